import { Injectable } from '@nestjs/common';
import { Chains } from '../../chain/index.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { type Funds, MeasureFunds } from '../../sending/index.js';
import { FundsRepository, type FundsStanding } from '../../transactions/index.js';
import { BalanceMetrics } from './balance-metrics.js';
import { ReportLowBalances } from './report-low-balances.js';
import { ResumeFunded } from './resume-funded.js';

/** Queued txs that are counted of each signer: a number that costs little for many signers. */
const MOST_QUEUED = 1_000;

/**
 * Measures the balances of signers that have work. Finds out that funds arrived, and that a balance is low. Signers without work cost a probe
 * of an index.
 */
@Injectable()
export class WatchBalances {
  /** What was available of each signer that waited for funds, by chain. */
  private readonly before = new Map<ChainId, ReadonlyMap<string, bigint>>();

  constructor(
    private readonly chains: Chains,
    private readonly funds: FundsRepository,
    private readonly measure: MeasureFunds,
    private readonly resume: ResumeFunded,
    private readonly report: ReportLowBalances,
    private readonly metrics: BalanceMetrics,
  ) {}

  /** @param signers of this node. @returns those that have work */
  async execute(chainId: ChainId, signers: readonly SignerId[]): Promise<SignerId[]> {
    const all = await this.funds.standing(signers);
    const standing = new Map(signers.map((signer, index) => [signerKey(signer), all[index]]));
    const busy = signers.filter((signer) => hasWork(standing.get(signerKey(signer))));
    const measured = await this.measure.execute(this.chains.get(chainId), busy, MOST_QUEUED);
    this.metrics.measured(chainId, measured);
    const waiting = measured.filter(({ signer }) => standing.get(signerKey(signer))?.waitsForFunds === true);
    await this.resume.execute(chainId, this.withMore(chainId, waiting));
    await this.report.execute(
      chainId,
      measured.filter(({ signer, isLow }) => standing.get(signerKey(signer))?.isLow !== isLow),
    );
    return busy;
  }

  /** Those with more available than at the last look. A signer that is seen for the first time may have got funds before. */
  private withMore(chainId: ChainId, waiting: readonly Funds[]): SignerId[] {
    const before = this.before.get(chainId) ?? new Map<string, bigint>();
    this.before.set(chainId, new Map(waiting.map(({ signer, available }) => [signerKey(signer), available])));
    return waiting
      .filter(({ signer, available }) => available > (before.get(signerKey(signer)) ?? -1n))
      .map(({ signer }) => signer);
  }
}

function hasWork(standing: FundsStanding | undefined): boolean {
  return standing !== undefined && (standing.inFlight > 0 || standing.hasPending);
}
