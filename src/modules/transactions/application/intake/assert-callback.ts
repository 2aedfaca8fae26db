import { Injectable } from '@nestjs/common';
import { Unprocessable } from '../../../../kernel/errors.js';
import type { TxRequest } from '../../domain/tx-request.js';
import { CallbackEndpoints } from './callback-endpoints.js';

/** Asks only for requests that name a callback, and once for those that name the same one at the same time. */
@Injectable()
export class AssertCallback {
  private readonly asked = new Map<string, Promise<boolean>>();

  constructor(private readonly endpoints: CallbackEndpoints) {}

  /** @throws Unprocessable `unknown_webhook` */
  async execute({ callback }: Pick<TxRequest, 'callback'>): Promise<void> {
    if (callback === undefined || (await this.exists(callback))) return;
    throw new Unprocessable(
      'unknown_webhook',
      `no webhook endpoint ${callback}`,
      'GET /api/v1/webhooks lists the endpoints',
      { callback },
    );
  }

  private exists(id: string): Promise<boolean> {
    const asked = this.asked.get(id) ?? this.endpoints.exists(id).finally(() => this.asked.delete(id));
    this.asked.set(id, asked);
    return asked;
  }
}
