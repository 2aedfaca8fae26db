import { Injectable } from '@nestjs/common';
import { signerKey } from '../../../kernel/signer-id.js';
import type { ChainConnector } from '../../chain/index.js';
import type { Lease } from '../../signers/index.js';
import { Log } from '../../../platform/logging/log.js';
import {
  asFound,
  AttemptRepository,
  ManagedTxRepository,
  MarkReceiptsDue,
  type RequestedTx,
} from '../../transactions/index.js';
import { BroadcastAttempts, type Sending, SignAttempts } from '../../sending/index.js';

/**
 * Finishes what a crash or the previous owner left (docs/architecture.md, Lane step). A slot without a signed attempt gets one. An attempt
 * that was signed, and may have been sent, is resent with the same bytes: nothing new is signed to find out what happened
 * (docs/invariants.md, I5).
 */
@Injectable()
export class RecoverLane {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly markReceiptsDue: MarkReceiptsDue,
    private readonly sign: SignAttempts,
    private readonly broadcast: BroadcastAttempts,
    private readonly log: Log,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<void> {
    const signers = leases.map((lease) => lease.signer);
    await this.markReceiptsDue.execute(leases, 'recover');
    const left = (await this.repository.allocated(signers)).filter(({ tx }) => !tx.isResting);
    if (left.length === 0) return;
    const known = await this.attempts.ofSlots(left.map(({ tx }) => ({ signer: tx.signer, nonce: tx.nonce })));
    const latest = new Map(known.filter(({ txId }) => txId !== null).map((attempt) => [attempt.txId, attempt]));
    const unsigned: RequestedTx[] = [];
    const signed: Sending[] = [];
    for (const item of left) {
      const attempt = latest.get(item.tx.id);
      if (attempt) signed.push({ tx: item.tx, attempt: asFound(attempt) });
      else unsigned.push(item);
    }
    this.log.info('lane recovered', {
      signers: signers.map(signerKey),
      unsigned: unsigned.length,
      resent: signed.length,
    });
    const fresh = unsigned.length === 0 ? [] : await this.sign.execute(await chain.feeQuote(), leases, unsigned);
    await this.broadcast.execute(chain, leases, [...signed, ...fresh]);
  }
}
