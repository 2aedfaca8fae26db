import { setTimeout as sleep } from 'node:timers/promises';
import { bodyOf } from './cluster-clients.js';
import type { Cluster } from './cluster.js';
import type { ClusterNode } from './cluster-node.js';
import type { HttpAnswer } from './service.js';

interface NowBody {
  readonly nonce?: number | null;
  readonly code?: string;
  readonly facts?: { readonly ownerUrl?: string | null };
}

/** An answer with a nonce in it. */
export interface NowAnswer {
  readonly signer: string;
  readonly requestId: string;
  readonly nonce: number;
  readonly status: number;
  /** URL of the node that gave it. */
  readonly by: string;
}

/** Longer than a create waits for its nonce. */
const ANSWER_MS = 8_000;

/** Clients that want to know the nonce at once, and go where they are told that they get it. */
export class NowClients {
  readonly answers: NowAnswer[] = [];
  /** Each 409 `not_leader`. */
  readonly refusals: { readonly by: string; readonly retryAfter: string | null }[] = [];

  constructor(private readonly cluster: Cluster) {}

  /** Creates it, and then asks for it once more, as a client does that has lost the answer. */
  async create(signer: string, requestId: string): Promise<void> {
    this.answers.push(await this.ask(signer, requestId));
    this.cluster.clients.wasPromised(signer, requestId);
    this.answers.push(await this.ask(signer, requestId));
  }

  /** Until there is a nonce in the answer. */
  private async ask(signer: string, requestId: string): Promise<NowAnswer> {
    let hint: string | null = null;
    for (;;) {
      const { service } = this.choose(hint);
      const by = service.url;
      const body = { ...bodyOf(signer, requestId), allocate: 'now' };
      const answer = await service.post<NowBody>('/api/v1/tx', body, {}, ANSWER_MS).catch(() => null);
      if (answer && answer.status < 300 && typeof answer.body.nonce === 'number')
        return { signer, requestId, nonce: answer.body.nonce, status: answer.status, by };
      hint = answer && this.judge(by, answer);
      await sleep(20 + Math.random() * 80);
    }
  }

  /** @returns where to ask next, if the answer says so; nothing is lost by asking again, whatever it says */
  private judge(by: string, { status, headers, body }: HttpAnswer<NowBody>): string | null {
    if (status < 300 || status >= 500) return null;
    if (status !== 409 || body.code !== 'not_leader') throw new Error(`refused for good: ${JSON.stringify(body)}`);
    this.refusals.push({ by, retryAfter: headers.get('retry-after') });
    return body.facts?.ownerUrl ?? null;
  }

  private choose(hint: string | null): ClusterNode {
    const alive = this.cluster.nodes.filter((node) => node.answers);
    const chosen = alive.find(({ service }) => service.url === hint) ?? alive[Math.floor(Math.random() * alive.length)];
    if (!chosen) throw new Error('no node is alive');
    return chosen;
  }
}
