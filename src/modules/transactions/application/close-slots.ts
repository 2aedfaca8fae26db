import { Injectable } from '@nestjs/common';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector, FeeQuote } from '../../chain/index.js';
import { FencedUnitOfWork, type Lease } from '../../signers/index.js';
import type { Attempt } from '../domain/attempt.js';
import { AttemptRepository } from '../domain/attempt.repository.js';
import { bumpedFees, initialFees } from '../domain/fee-policy.js';
import { ManagedTx } from '../domain/managed-tx.js';
import { ManagedTxRepository } from '../domain/managed-tx.repository.js';
import { type AttemptDraft, AttemptSigner } from './attempt-signer.js';
import type { Sending } from './broadcast-attempts.js';
import { leasesFor } from './leases-for.js';
import { noOpDraft, noOpGas } from './no-op.js';

/**
 * A payload that is refused for good although an earlier send of it may be out keeps its slot, and everything behind it waits.
 * A no-op at the same nonce, at a higher price, lets the chain decide: whichever is mined consumes the slot (I7), and the
 * payload is never moved to another nonce (I8).
 */
@Injectable()
export class CloseSlots {
  constructor(
    private readonly signer: AttemptSigner,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly attempts: AttemptRepository,
    private readonly repository: ManagedTxRepository,
    private readonly log: Log,
  ) {}

  /**
   * Signs and stores the no-op.
   * @param payload the attempt that competes with it
   */
  async execute(
    chain: ChainConnector,
    leases: readonly Lease[],
    closing: readonly { readonly tx: ManagedTx; readonly payload: Attempt }[],
  ): Promise<Sending[]> {
    if (closing.length === 0) return [];
    const quote = await chain.feeQuote();
    const gas = await noOpGas(
      chain,
      closing.map(({ tx }) => tx.signer),
    );
    const signed = await this.signer.sign(
      closing.map(({ tx, payload }, index) => closingDraft(tx, payload, quote, gas[index])),
    );
    const covered = leasesFor(
      leases,
      closing.map(({ tx }) => tx.signer),
    );
    return this.unitOfWork.run(covered, 'close', async (fence) => {
      const sendings = signed.map((attempt, index): Sending => {
        const tx = closing[index]?.tx;
        const copy = tx ? ManagedTx.rehydrate(tx.progress) : null;
        copy?.competitorSigned(attempt.txHash);
        return { tx: copy, attempt };
      });
      await this.attempts.insert(fence, signed);
      await this.repository.save(
        fence,
        sendings.flatMap(({ tx }) => tx ?? []),
      );
      for (const { tx } of closing) this.log.warn('closing a slot with a no-op', { txId: tx.id, nonce: tx.nonce });
      return sendings;
    });
  }
}

function closingDraft(tx: ManagedTx, payload: Attempt, quote: FeeQuote, gas: bigint | undefined): AttemptDraft {
  const market = initialFees({ fees: { maxFeePerGas: null, maxPriorityFeePerGas: null }, speed: 'fast' }, quote, null);
  const draft = noOpDraft({ signer: tx.signer, nonce: tx.nonce }, bumpedFees(payload.fees, market), gas);
  return { ...draft, kind: 'cancel', txId: tx.id };
}
