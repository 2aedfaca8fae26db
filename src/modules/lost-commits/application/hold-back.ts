import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { FencedUnitOfWork, type Lease } from '../../signers/index.js';
import { ManagedTxRepository } from '../../transactions/index.js';
import type { Findings } from './findings.js';

/** A held signer is looked at again about as often. */
const LOOK_AGAIN_MS = 1_000;
const WORDS = 'the database may have lost commits, and it is not known yet what is out for this signer';

/** Says why a signer stands still: to people in the log, to clients in the first of its waiting txs. */
@Injectable()
export class HoldBack {
  constructor(
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly repository: ManagedTxRepository,
    private readonly config: ExecutionConfig,
    private readonly log: Log,
  ) {}

  async execute(lease: Lease, { outlook, latest, hiddenBelow, unread }: Findings): Promise<void> {
    const { signer, cursor, suspect } = outlook;
    this.log.error('nothing is sent for a signer: transactions may be out that the database does not know', {
      signer: signerKey(signer),
      cursor,
      chainNonce: latest,
      hiddenBelow,
      unread,
      suspect,
    });
    const waiting = await this.repository.nextPending([{ signer, room: this.config.batchSize }]);
    if (waiting.length === 0) return;
    await this.unitOfWork.run([lease], 'hold_back', async (fence) => {
      const locked = await this.repository.lockPending(
        fence,
        waiting.map(({ tx }) => tx.id),
      );
      const txs = waiting.map(({ tx }) => tx).filter(({ id }) => locked.has(id));
      for (const tx of txs) tx.postponed('NONCE_SYNC', LOOK_AGAIN_MS, WORDS);
      await this.repository.save(fence, txs);
    });
  }
}
