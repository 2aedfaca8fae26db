import { ManagedTxRepository, WriteChanges } from '../../transactions/index.js';
import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type Lease } from '../../signers/index.js';
import type { Findings } from './findings.js';

/** About as often as a held signer is checked again. */
const CHECK_AGAIN_MS = 1_000;
const REASON = 'the database may have lost commits: the transactions that this signer has sent are not all known yet';

/** Reports why a signer sends nothing: to operators in the log, to clients in the error of its first waiting txs. */
@Injectable()
export class HoldBack {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly config: ExecutionConfig,
    private readonly log: Log,
  ) {}

  async execute(lease: Lease, { outlook, latest, hiddenBelow, unread }: Findings): Promise<void> {
    const { signer, cursor, suspect } = outlook;
    this.log.error('signer held: it may have sent transactions that the database does not know', {
      signer: signerKey(signer),
      cursor,
      chainNonce: latest,
      hiddenBelow,
      unread,
      suspect,
    });
    const waiting = await this.repository.nextPending([{ signer, room: this.config.batchSize }]);
    if (waiting.length === 0) return;
    await this.write.underFence([lease], 'hold_back', async (fence) => {
      const locked = await this.repository.lockPending(
        fence,
        waiting.map(({ tx }) => tx),
      );
      const txs = waiting.map(({ tx }) => tx).filter(({ id }) => locked.has(id));
      for (const tx of txs) tx.postponed('NONCE_SYNC', CHECK_AGAIN_MS, REASON);
      return { txs };
    });
  }
}
