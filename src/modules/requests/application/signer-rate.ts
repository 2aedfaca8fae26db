import { Injectable } from '@nestjs/common';
import { LimitsConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { AccountLimits } from '../../../platform/limits/account-limits.js';
import { leftText, policyText } from '../../../platform/limits/quota-text.js';
import { ServingNodes } from '../../../platform/limits/serving-nodes.js';
import { TokenBuckets } from '../../../platform/limits/token-buckets.js';
import { Router } from '../../signers/index.js';
import type { IsRepeated } from './stored-requests.js';

/** How many transactions may be created or replaced with one signer at this node, whoever sends them: its share of what all nodes may. */
@Injectable()
export class SignerRate {
  private readonly txs = new TokenBuckets();

  constructor(
    private readonly config: LimitsConfig,
    private readonly nodes: ServingNodes,
    private readonly clock: Clock,
    private readonly limits: AccountLimits,
    private readonly router: Router,
  ) {}

  /**
   * @param isRepeated such a request costs nothing; asked only where there is a limit
   * @param count what it creates at once: all of it, or nothing
   * @throws RateLimited
   */
  async take(signer: SignerId, isRepeated: IsRepeated, count = 1): Promise<void> {
    const { txsPerSecond } = this.config.signer;
    // With a signer that does not exist nothing is created, and the buckets of such ones would displace the others.
    if (txsPerSecond === Infinity || !this.router.isServed(signer)) return;
    if (await isRepeated()) return;
    const rate = this.nodes.rateOf(txsPerSecond);
    const [actor, nowMs] = [signerKey(signer), this.clock.monotonicMs()];
    const seconds = this.txs.tryTake(actor, count, rate, nowMs);
    if (seconds === 0) return;
    throw this.limits.refusal('signer_txs', seconds, {
      policy: policyText({ limit: 'signer_txs', perSecond: txsPerSecond }),
      left: leftText('signer_txs', this.txs.tokens(actor, rate, nowMs), rate),
    });
  }
}
