import { Pool } from 'undici';

/** JSON-RPC with texts that are made and read by the caller: parsing each answer would be work that is not measured. */
export class RpcClient {
  private readonly pool: Pool;

  constructor(url: string, connections: number) {
    this.pool = new Pool(url, { connections });
  }

  async post(body: string): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    const { statusCode, body: answer } = await this.pool.request({ method: 'POST', path: '/', headers, body });
    const text = await answer.text();
    if (statusCode !== 200 || text.includes('"error"')) throw new Error(`the node refused: ${text.slice(0, 500)}`);
    return text;
  }

  /** One call whose result is a quantity. */
  async number(method: string, ...params: readonly unknown[]): Promise<number> {
    const answer: unknown = JSON.parse(await this.post(callText(1, method, params)));
    if (typeof answer === 'object' && answer !== null && 'result' in answer) return Number(answer.result);
    throw new Error(`${method} was not answered: ${JSON.stringify(answer)}`);
  }

  /** All in one batch. */
  async batch(method: string, params: readonly (readonly unknown[])[]): Promise<void> {
    await this.post(`[${params.map((each, id) => callText(id, method, each)).join(',')}]`);
  }

  async close(): Promise<void> {
    await this.pool.close();
  }
}

export function callText(id: number, method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}
