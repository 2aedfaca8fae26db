import { Injectable } from '@nestjs/common';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import type { ChainConnector } from '../../chain/index.js';
import { EventLog } from '../../events/index.js';
import { type Funds, MeasureFunds } from '../../sending/index.js';
import type { Fence, Lease } from '../../signers/index.js';
import { Doorbell, FundsRepository, type FundsStanding, LeasedWork, WriteChanges } from '../../ledger/index.js';

/** Queued txs that are counted of each signer: a number that costs little for many signers. */
const MOST_QUEUED = 1_000;

/**
 * Measures the balances of this node's signers that have work, or are marked low. Finds out that funds arrived, and that a balance is low, or not
 * any more. Other signers cost a probe of an index.
 */
@Injectable()
export class WatchBalances {
  /** What was available of each signer that waited for funds, by chain. */
  private readonly before = new Map<ChainId, ReadonlyMap<string, bigint>>();

  /** What is shown, by chain. */
  private readonly shown = new Map<ChainId, readonly Funds[]>();

  constructor(
    private readonly funds: FundsRepository,
    private readonly measure: MeasureFunds,
    private readonly work: LeasedWork,
    private readonly write: WriteChanges,
    private readonly events: EventLog,
    private readonly doorbell: Doorbell,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  /** @param signers of this node. @returns those that have work */
  async execute(chain: ChainConnector, signers: readonly SignerId[]): Promise<SignerId[]> {
    const { chainId } = chain;
    const all = await this.funds.standing(signers);
    const standing = new Map(signers.map((signer, index) => [signerKey(signer), all[index]]));
    const busy = signers.filter((_, index) => hasWork(all[index]));
    const isBusy = new Set(busy);
    // What was short may be mined, and final, before the next look.
    const toMeasure = signers.filter((signer, index) => isBusy.has(signer) || all[index]?.isLow === true);
    const measured = await this.measure.execute(chain, toMeasure, MOST_QUEUED);
    this.show(chainId, measured);
    const waiting = measured.filter(({ signer }) => standing.get(signerKey(signer))?.waitsForFunds === true);
    await this.resumeFunded(chainId, this.withMore(chainId, waiting));
    await this.reportLow(
      chainId,
      measured.filter(({ signer, isLow }) => standing.get(signerKey(signer))?.isLow !== isLow),
    );
    return busy;
  }

  /** A gauge is a float, so wei above 2^53 are rounded. */
  private show(chainId: ChainId, measured: readonly Funds[]): void {
    this.shown.set(chainId, measured);
    this.metrics.clear('signer_balance_wei');
    this.metrics.clear('signer_balance_missing_wei');
    for (const { signer, balance, missing } of [...this.shown.values()].flat()) {
      const labels = { chain: signer.chainId, signer: signer.address };
      this.metrics.add('signer_balance_wei', Number(balance), labels);
      this.metrics.add('signer_balance_missing_wei', Number(missing), labels);
    }
  }

  /** Those with more available than at the last look. A signer that is seen for the first time may have got funds before. */
  private withMore(chainId: ChainId, waiting: readonly Funds[]): SignerId[] {
    const before = this.before.get(chainId) ?? new Map<string, bigint>();
    this.before.set(chainId, new Map(waiting.map(({ signer, available }) => [signerKey(signer), available])));
    return waiting
      .filter(({ signer, available }) => available > (before.get(signerKey(signer)) ?? -1n))
      .map(({ signer }) => signer);
  }

  /** Makes due what waited for funds, and wakes the lanes: parked txs are simulated again, and sent ones that were refused are resent. */
  private async resumeFunded(chainId: ChainId, signers: readonly SignerId[]): Promise<void> {
    const items = signers.map((signer) => ({ signer }));
    await this.work.run(chainId, items, async (leases, share) => {
      const funded = share.map(({ signer }) => signer);
      await this.write.execute(leases, 'funds_arrived', { fundsArrived: funded });
      this.log.info('funds arrived', { signers: funded.map(signerKey) });
      this.doorbell.ring(funded);
    });
  }

  /**
   * Writes an event when the balance of a signer becomes low, and when it is enough again; each once, whoever owns the signer.
   * @param changed signers whose stored mark differs from `isLow`
   */
  private async reportLow(chainId: ChainId, changed: readonly Funds[]): Promise<void> {
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

function hasWork(standing: FundsStanding | undefined): boolean {
  return standing !== undefined && (standing.inFlight > 0 || standing.hasPending);
}

function detailOf({ balance, inFlight, queued, missing }: Funds): Record<string, string> {
  return {
    balance: balance.toString(),
    inFlight: inFlight.toString(),
    queued: queued.wei.toString(),
    missing: missing.toString(),
  };
}
