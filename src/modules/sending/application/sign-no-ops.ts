import { Injectable } from '@nestjs/common';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector } from '../../chain/index.js';
import { FencedUnitOfWork, type Lease, leasesFor } from '../../signers/index.js';
import {
  type Attempt,
  type AttemptFees,
  AttemptRepository,
  highestFees,
  ManagedTx,
  ManagedTxRepository,
} from '../../transactions/index.js';
import { type AttemptDraft, AttemptSigner } from './attempt-signer.js';
import { FeeRules } from './fee-rules.js';
import type { Sending } from './send.js';
import { noOpDraft, noOpGas } from './no-op.js';

/**
 * A payload that is refused for good although an earlier send of it may be out keeps its slot, and everything behind it waits.
 * A no-op at the same nonce, at a higher price, lets the chain decide: whichever is mined consumes the slot (I7), and the
 * payload is never moved to another nonce (I8).
 */
@Injectable()
export class SignNoOps {
  constructor(
    private readonly signer: AttemptSigner,
    private readonly fees: FeeRules,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly attempts: AttemptRepository,
    private readonly repository: ManagedTxRepository,
    private readonly log: Log,
  ) {}

  /**
   * Signs and stores the no-op, as far as the caps of the chain allow its price.
   * @param rivals the attempts that compete with it
   */
  async execute(
    chain: ChainConnector,
    leases: readonly Lease[],
    all: readonly { readonly tx: ManagedTx; readonly rivals: readonly Attempt[] }[],
  ): Promise<Sending[]> {
    if (all.length === 0) return [];
    const quote = await chain.feeQuote();
    const closing = all.flatMap(({ tx, rivals }) => {
      const fees = this.fees.noOp(chain.chainId, quote, highestFees(rivals));
      if (!fees) this.log.warn('closing a slot costs more than the caps of the chain allow', { txId: tx.id });
      return fees ? [{ tx, fees }] : [];
    });
    if (closing.length === 0) return [];
    const gas = await noOpGas(
      chain,
      closing.map(({ tx }) => tx.signer),
    );
    const signed = await this.signer.sign(closing.map(({ tx, fees }, index) => closingDraft(tx, fees, gas[index])));
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

function closingDraft(tx: ManagedTx, fees: AttemptFees, gas: bigint | undefined): AttemptDraft {
  return { ...noOpDraft({ signer: tx.signer, nonce: tx.nonce }, fees, gas), kind: 'cancel', txId: tx.id };
}
