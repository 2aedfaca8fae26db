import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Unprocessable } from '../../../kernel/errors.js';
import { TxQueries, type TxRequest } from '../../ledger/index.js';
import { CallbackEndpoints } from './callback-endpoints.js';

type Asked = Pick<TxRequest, 'signer' | 'sender' | 'requestId' | 'callback'>;

/** Asks only for requests that name a callback, and once for all of one account in one turn of the event loop: a batch may name a thousand. */
@Injectable()
export class AssertCallback {
  /** By account. */
  private readonly questions = new Map<string, Question>();

  constructor(
    private readonly endpoints: CallbackEndpoints,
    private readonly txs: TxQueries,
  ) {}

  /** @throws Unprocessable `unknown_webhook`, also for an endpoint of another account */
  async execute({ signer, sender, requestId, callback }: Asked): Promise<void> {
    if (callback === undefined || (await this.exists(callback, sender.account))) return;
    // A repeated request, which a client sends that got no answer: its endpoint was there when it was stored.
    if ((await this.txs.findByRequest(signer, requestId, sender)) !== null) return;
    throw new Unprocessable(
      'unknown_webhook',
      `no webhook endpoint ${callback}`,
      'GET /api/v1/webhooks lists the endpoints',
      { callback },
    );
  }

  private async exists(id: string, account: string): Promise<boolean> {
    const question = this.questions.get(account) ?? this.ask(account);
    question.ids.add(id);
    return (await question.answer).has(id);
  }

  private ask(account: string): Question {
    const ids = new Set<string>();
    const answer = nextTurn().then(() => {
      this.questions.delete(account);
      return this.endpoints.existing([...ids], account);
    });
    const question = { ids, answer };
    this.questions.set(account, question);
    return question;
  }
}

interface Question {
  readonly ids: Set<string>;
  readonly answer: Promise<ReadonlySet<string>>;
}
