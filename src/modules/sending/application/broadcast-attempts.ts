import { Injectable } from '@nestjs/common';
import { CrashPoints } from '../../../kernel/crash-points.js';
import type { ChainConnector } from '../../chain/index.js';
import type { Lease } from '../../signers/index.js';
import { outcomeOf, WriteChanges } from '../../transactions/index.js';
import { AttachSidecars } from './attach-sidecars.js';
import { ClassifySends } from './classify-sends.js';
import { RecordSends } from './record-sends.js';
import type { AnsweredSend, Sending } from './send.js';
import { sendBatches } from './send-batches.js';

/** Sends committed bytes in nonce order and records the answers: for first sends, recovery and resends. */
@Injectable()
export class BroadcastAttempts {
  constructor(
    private readonly write: WriteChanges,
    private readonly sidecars: AttachSidecars,
    private readonly classify: ClassifySends,
    private readonly record: RecordSends,
    private readonly crashPoints: CrashPoints,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[], sendings: readonly Sending[]): Promise<void> {
    if (sendings.length === 0) return;
    await this.markAsResent(leases, sendings);
    const answered = (await Promise.all(sendBatches(sendings).map((batch) => this.send(chain, batch)))).flat();
    this.crashPoints.reached('after_broadcast');
    await this.record.execute(leases, await this.classify.execute(chain, answered));
    this.crashPoints.reached('after_record');
  }

  /** Stores refused attempts as SIGNED before they are sent again: until the answer is stored, they may be out (see {@link asFound}). */
  private markAsResent(leases: readonly Lease[], sendings: readonly Sending[]): Promise<void> {
    const refused = sendings.map(({ attempt }) => attempt).filter(({ status }) => status === 'REJECTED');
    return this.write.execute(leases, 'resend', { attempts: { resent: refused } });
  }

  private async send(chain: ChainConnector, batch: readonly Sending[]): Promise<AnsweredSend[]> {
    const answers = await chain.broadcast(await this.sidecars.execute(batch.map(({ attempt }) => attempt)));
    return batch.flatMap((sending, index): AnsweredSend[] => {
      const answer = answers[index];
      return answer ? [{ ...sending, outcome: outcomeOf(sending.attempt, answer) }] : [];
    });
  }
}
