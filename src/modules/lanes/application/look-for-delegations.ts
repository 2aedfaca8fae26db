import { Injectable } from '@nestjs/common';
import type { SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainAccounts } from '../../chain/index.js';
import { InFlightLimits } from '../../ledger/index.js';

/**
 * Finds out which signers delegate to a contract (EIP-7702), so that they get no more nonces than pools take of them: one at once. It asks
 * when a lane begins, after a transaction that may change a delegation, and with each look at the balances. Where nobody asked in time, a
 * pool refuses, and the limit is learnt from that.
 */
@Injectable()
export class LookForDelegations {
  constructor(
    private readonly limits: InFlightLimits,
    private readonly log: Log,
  ) {}

  /** Never throws: a lane does not stand still because the code of an account is not known. */
  async execute(chain: ChainAccounts, signers: readonly SignerId[]): Promise<void> {
    if (signers.length === 0) return;
    try {
      const delegated = await chain.delegated(signers.map(({ address }) => address));
      signers.forEach((signer, index) => this.limits.seen(signer, delegated[index] === true));
    } catch (error) {
      this.log.warn('failed to read the code of accounts', { chainId: chain.chainId, error });
    }
  }
}
