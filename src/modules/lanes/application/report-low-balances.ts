import { Injectable } from '@nestjs/common';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { EventLog } from '../../events/index.js';
import type { Funds } from '../../sending/index.js';
import type { Fence, Lease } from '../../signers/index.js';
import { FundsRepository, LeasedWork, WriteChanges } from '../../transactions/index.js';

/** Writes an event when the balance of a signer becomes low, and when it is enough again; each once, whoever owns the signer. */
@Injectable()
export class ReportLowBalances {
  constructor(
    private readonly work: LeasedWork,
    private readonly funds: FundsRepository,
    private readonly events: EventLog,
    private readonly write: WriteChanges,
    private readonly log: Log,
  ) {}

  /** @param changed signers whose stored mark differs from `isLow` */
  async execute(chainId: ChainId, changed: readonly Funds[]): Promise<void> {
    await this.work.run(chainId, changed, async (leases, share) => {
      for (const isLow of [true, false])
        await this.mark(
          leases,
          share.filter((funds) => funds.isLow === isLow),
          isLow,
        );
    });
  }

  private async mark(leases: readonly Lease[], share: readonly Funds[], isLow: boolean): Promise<void> {
    if (share.length === 0) return;
    await this.write.underFence(leases, 'balance', async (fence) => {
      await this.report(fence, share, isLow);
      return {};
    });
  }

  private async report(fence: Fence, share: readonly Funds[], isLow: boolean): Promise<void> {
    const marked = await this.funds.markLow(
      fence,
      share.map(({ signer }) => signer),
      isLow,
    );
    const keys = new Set(marked.map(signerKey));
    const news = share.filter(({ signer }) => keys.has(signerKey(signer)));
    const reason = isLow ? 'balance_low' : 'balance_restored';
    await this.events.appendOfSigners(
      fence.tx,
      fence,
      news.map((funds) => ({ signer: funds.signer, reason, detail: detailOf(funds) })),
    );
    for (const funds of news)
      this.log.warn(isLow ? 'balance of a signer is low' : 'balance of a signer is enough again', {
        signer: signerKey(funds.signer),
        ...detailOf(funds),
      });
  }
}

function detailOf({ balance, inFlight, queued, missing }: Funds): Record<string, string> {
  return {
    balance: balance.toString(),
    inFlight: inFlight.toString(),
    queued: queued.wei.toString(),
    missing: missing.toString(),
  };
}
