import { type ServerResponse } from 'node:http';
import { keccak256 } from 'ethers';
import { LocalServer } from './local-server.js';

export interface Asked {
  readonly method: string;
  readonly params: readonly unknown[];
}

export type Answered =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

/** Answers a call in the place of the node. `ask` asks the node: the same call, or another one. */
export type Quirk = (call: Asked, ask: (other?: Partial<Asked>) => Promise<Answered>) => Promise<Answered> | Answered;

/** By method. */
export type Quirks = Readonly<Record<string, Quirk>>;

type Json = Record<string, unknown>;

/** A JSON-RPC endpoint in front of a real node, which answers as the nodes of another family of chains do. */
export class ChainFacade extends LocalServer {
  /** What was sent and not delivered, the oldest first. */
  readonly held: string[] = [];
  private holds = false;

  private constructor(
    private readonly target: string,
    private readonly quirks: Quirks,
    private readonly mostInBatch: number,
  ) {
    super();
  }

  /** @param mostInBatch a larger batch costs the connection */
  static listen(target: string, quirks: Quirks, mostInBatch = Infinity): Promise<ChainFacade> {
    return new ChainFacade(target, quirks, mostInBatch).listening();
  }

  /** From now on it takes transactions and delivers none: no block has them. */
  hold(): void {
    this.holds = true;
  }

  /** Delivers the newest of what was held, and everything from now on. */
  async release(): Promise<void> {
    this.holds = false;
    const newest = this.held.at(-1);
    this.held.length = 0;
    if (newest !== undefined) await this.node({ method: 'eth_sendRawTransaction', params: [newest] });
  }

  protected async handle(body: string, response: ServerResponse): Promise<void> {
    response.setHeader('content-type', 'application/json').end(await this.answer(body));
  }

  private async answer(text: string): Promise<string> {
    const body = JSON.parse(text) as (Asked & Json) | (Asked & Json)[];
    if (!Array.isArray(body)) return JSON.stringify(await this.one(body));
    if (body.length > this.mostInBatch) throw new Error('larger than this endpoint takes');
    return JSON.stringify(await Promise.all(body.map((call) => this.one(call))));
  }

  private async one(call: Asked & Json): Promise<Json> {
    const { id, method, params } = call;
    const quirk = this.quirks[method];
    const ask = (other: Partial<Asked> = {}): Promise<Answered> => this.node({ method, params, ...other });
    return { ...(await (quirk ? quirk({ method, params }, ask) : ask())), jsonrpc: '2.0', id };
  }

  private async node({ method, params }: Asked): Promise<Answered> {
    if (this.holds && method === 'eth_sendRawTransaction') {
      this.held.push(String(params[0]));
      return { result: keccak256(String(params[0])) };
    }
    const answer = await fetch(this.target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await answer.json()) as Answered;
  }
}
