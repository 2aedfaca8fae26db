import { Injectable } from '@nestjs/common';
import type { RequestKey } from '../../ledger/index.js';
import { SignerRate } from './signer-rate.js';
import { type IsRepeated, unlessRepeated } from './stored-requests.js';
import { WaitingTxs } from './waiting-txs.js';

/** What accounts and signers may create. A node that was forwarded a request does not ask again. */
@Injectable()
export class CreationLimits {
  constructor(
    private readonly waiting: WaitingTxs,
    private readonly rate: SignerRate,
  ) {}

  /**
   * @param count what the request creates at once: all of it, or nothing
   * @throws RateLimited, unless it is a repeated request
   */
  async admit(request: Pick<RequestKey, 'signer' | 'sender'>, isRepeated: IsRepeated, count = 1): Promise<void> {
    await unlessRepeated(isRepeated, () => this.waiting.assertRoom(request, count));
    await this.rate.take(request.signer, isRepeated, count);
  }
}
