import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Unprocessable } from '../../../kernel/errors.js';
import { TxQueries, type TxRequest } from '../../ledger/index.js';
import { CallbackEndpoints } from './callback-endpoints.js';

interface Question {
  readonly ids: Set<string>;
  readonly answer: Promise<ReadonlySet<string>>;
}

/** Asks only for requests that name a callback, and once for all of one turn of the event loop: a batch may name a thousand. */
@Injectable()
export class AssertCallback {
  private next: Question | null = null;

  constructor(
    private readonly endpoints: CallbackEndpoints,
    private readonly txs: TxQueries,
  ) {}

  /** @throws Unprocessable `unknown_webhook` */
  async execute({ signer, requestId, callback }: Pick<TxRequest, 'signer' | 'requestId' | 'callback'>): Promise<void> {
    if (callback === undefined || (await this.exists(callback))) return;
    // A repeated request, which a client sends that got no answer: its endpoint was there when it was stored.
    if ((await this.txs.findByRequest(signer.chainId, signer.address, requestId)) !== null) return;
    throw new Unprocessable(
      'unknown_webhook',
      `no webhook endpoint ${callback}`,
      'GET /api/v1/webhooks lists the endpoints',
      { callback },
    );
  }

  private async exists(id: string): Promise<boolean> {
    this.next ??= this.ask(new Set());
    this.next.ids.add(id);
    return (await this.next.answer).has(id);
  }

  private ask(ids: Set<string>): Question {
    const answer = nextTurn().then(() => {
      this.next = null;
      return this.endpoints.existing([...ids]);
    });
    return { ids, answer };
  }
}
