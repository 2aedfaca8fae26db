import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterNode } from './cluster-node.js';
import type { HttpAnswer } from './service.js';

const RECEIVER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
/** An answer takes milliseconds; a paused node gives none. */
const ANSWER_MS = 3_000;
const CREATE_MS = 90_000;
const CLIENTS = 64;

/** Good clients of a cluster: they repeat what was not answered, elsewhere, and remember what they were promised. */
export class ClusterClients {
  /** Call data by signer in lower case. */
  readonly promised = new Map<string, string[]>();
  private stopped = false;

  constructor(private readonly nodes: readonly ClusterNode[]) {}

  /** To a random node that is thought to be alive; again elsewhere until there is an answer. */
  async post(path: string, body: unknown, nodes: readonly ClusterNode[] = this.nodes): Promise<HttpAnswer<unknown>> {
    const deadline = performance.now() + CREATE_MS;
    for (;;) {
      const alive = nodes.filter((node) => node.answers);
      const node = alive[Math.floor(Math.random() * alive.length)];
      const answer = await node?.service.post<unknown>(path, body, {}, ANSWER_MS).catch(() => null);
      // 408: a node that was paused counts the pause as the time that the request took to arrive. Nothing was stored.
      if (answer && answer.status < 500 && answer.status !== 408) return answer;
      if (this.stopped || performance.now() > deadline)
        throw new Error(`no node took ${path}: ${JSON.stringify(answer)}`);
      await sleep(20 + Math.random() * 80);
    }
  }

  /** Creates a transaction whose call data are like no other's. @param more fields of the body */
  async create(
    signer: string,
    requestId: string,
    nodes?: readonly ClusterNode[],
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const answer = await this.post('/api/v1/tx', { ...bodyOf(signer, requestId), ...more }, nodes);
    if (answer.status >= 300) throw new Error(`${requestId} was refused: ${JSON.stringify(answer)}`);
    this.wasPromised(signer, requestId);
  }

  /** `count` for each signer, interleaved, from many clients at once. */
  createMany(signers: readonly string[], mark: string, count: number, nodes?: readonly ClusterNode[]): Promise<void> {
    const queue = Array.from({ length: count }, (_, n) => signers.map((signer) => ({ signer, n }))).flat();
    const client = async (): Promise<void> => {
      for (let next = queue.shift(); next; next = queue.shift())
        await this.create(next.signer, `${mark}-${next.n}`, nodes);
    };
    return inBackground(Promise.all(Array.from({ length: CLIENTS }, client)).then(() => {}));
  }

  /** `each` for every signer, again and again until told to stop. */
  keepCreating(
    signers: readonly string[],
    mark: string,
    { each = 4, pauseMs = 0 }: { readonly each?: number; readonly pauseMs?: number } = {},
  ): { stop(): Promise<void> } {
    const work = { stopped: false };
    const running = (async () => {
      for (let round = 0; !work.stopped; round += 1) {
        await this.createMany(signers, `${mark}-${round}`, each);
        await sleep(pauseMs);
      }
    })();
    void inBackground(running);
    return {
      async stop() {
        work.stopped = true;
        await running;
      },
    };
  }

  /** Its payload must be on chain in the end, once. */
  wasPromised(signer: string, requestId: string): void {
    const key = signer.toLowerCase();
    const payloads = this.promised.get(key);
    if (payloads) payloads.push(dataOf(signer, requestId));
    else this.promised.set(key, [dataOf(signer, requestId)]);
  }

  /** Those that have no answer yet give up. */
  stop(): void {
    this.stopped = true;
  }
}

/** The call data of a request, which no other has. */
export function dataOf(signer: string, requestId: string): string {
  return `0x${Buffer.from(`${signer}/${requestId}`).toString('hex')}`;
}

export function bodyOf(signer: string, requestId: string): Readonly<Record<string, unknown>> {
  return { signer, requestId, payload: { to: RECEIVER, data: dataOf(signer, requestId), gasLimit: '100000' } };
}

/** It fails where it is awaited; until then a test that fails for another reason must not end Jest. */
function inBackground<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** A payload without a gas limit: each look of a lane at it asks the chain, whatever else is known already. */
export function withoutGasLimit(signer: string, requestId: string): Readonly<Record<string, unknown>> {
  return { payload: { to: RECEIVER, data: dataOf(signer, requestId) } };
}
