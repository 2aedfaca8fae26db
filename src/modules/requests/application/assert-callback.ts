import { Injectable } from '@nestjs/common';
import { Unprocessable } from '../../../kernel/errors.js';
import { AskTogether } from '../../../platform/scheduling/ask-together.js';
import type { TxRequest } from '../../ledger/index.js';
import { type Callback, CallbackEndpoints } from './callback-endpoints.js';

/** Asks only for requests that name a callback, and once for all that come in one go: a batch may name a thousand. */
@Injectable()
export class AssertCallback {
  private readonly existing: AskTogether<Callback>;

  constructor(endpoints: CallbackEndpoints) {
    this.existing = new AskTogether((callbacks) => endpoints.exist(callbacks));
  }

  /** @throws Unprocessable `unknown_webhook`, also for an endpoint of another account */
  async execute({ sender: { account }, callback }: Pick<TxRequest, 'sender' | 'callback'>): Promise<void> {
    if (callback === undefined || (await this.existing.of({ endpointId: callback, account }))) return;
    throw new Unprocessable(
      'unknown_webhook',
      `no webhook endpoint ${callback}`,
      'GET /api/v1/webhooks lists the endpoints',
      { callback },
    );
  }
}
