import { Injectable } from '@nestjs/common';
import { DEFAULT_ACCOUNT } from '../../../kernel/caller.js';
import { signerKey, signersOf } from '../../../kernel/signer-id.js';
import { InFlightLimits, type ManagedTx, TxsInFlight } from '../../ledger/index.js';
import { Custody, type Fence, NonceLedger } from '../../signers/index.js';

/**
 * How many nonces outside senders may have at once, whatever they do with them: half of what their signer may have in flight, so that payloads always
 * get the other half, where there are any; and an account half of that, but for the account of the operators, which most deployments have alone. Where
 * only outside senders can close a nonce gap there is room for the next one in any case: it gets that nonce, and what has higher ones waits for it.
 */
@Injectable()
export class HoldShares {
  constructor(
    private readonly inFlight: TxsInFlight,
    private readonly limits: InFlightLimits,
    private readonly custody: Custody,
    private readonly ledger: NonceLedger,
  ) {}

  /**
   * @param holds that wait for a nonce, in the order in which they get one
   * @returns the ids of those for which there is room
   */
  async admitted(fence: Fence, holds: readonly ManagedTx[]): Promise<ReadonlySet<string>> {
    if (holds.length === 0) return new Set();
    const open = new Map((await this.inFlight.openHolds(fence, holds)).map((beside) => [beside.txId, beside]));
    const external = signersOf(holds).filter((signer) => this.custody.isExternal(signer));
    const withGap = new Set((await this.ledger.gaps(external, false, fence)).map((gap) => signerKey(gap.signer)));
    const taken = new Map<string, number>();
    const admitted = new Set<string>();
    for (const { id, signer } of holds) {
      const beside = open.get(id);
      if (!beside) continue;
      const [ofSigner, ofAccount] = [signerKey(signer), `${signerKey(signer)} ${beside.account}`];
      const limit = this.limits.of(signer);
      const share = this.custody.isExternal(signer) ? limit : halfOf(limit);
      const ownShare = beside.account === DEFAULT_ACCOUNT ? share : halfOf(share);
      const isFull =
        beside.ofSigner + (taken.get(ofSigner) ?? 0) >= share ||
        beside.ofAccount + (taken.get(ofAccount) ?? 0) >= ownShare;
      const closesGap = withGap.delete(ofSigner);
      if (isFull && !closesGap) continue;
      admitted.add(id);
      for (const key of [ofSigner, ofAccount]) taken.set(key, (taken.get(key) ?? 0) + 1);
    }
    return admitted;
  }
}

function halfOf(most: number): number {
  return Math.max(1, Math.floor(most / 2));
}
