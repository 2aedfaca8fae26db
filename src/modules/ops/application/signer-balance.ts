import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import { Chains } from '../../chain/index.js';
import { type Funds, MeasureFunds } from '../../sending/index.js';
import { FundsRepository } from '../../ledger/index.js';
import { unknownSigner } from '../../../kernel/unknown-signer.js';

/** Bounds the work of one request. */
const MOST_QUEUED = 10_000;

export interface BalanceReport extends Funds {
  readonly inFlightCount: number;
  readonly at: Date;
}

/** The balance of one signer and what its txs may take from it, for operators. */
@Injectable()
export class SignerBalance {
  constructor(
    private readonly chains: Chains,
    private readonly measure: MeasureFunds,
    private readonly funds: FundsRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound `unknown_signer`; Unprocessable `unknown_chain` */
  async execute(signer: SignerId): Promise<BalanceReport> {
    const chain = this.chains.get(signer.chainId);
    const [standing] = await this.funds.standing([signer]);
    if (standing?.isKnown !== true) throw unknownSigner(signer);
    const [measured] = await this.measure.execute(chain, [signer], MOST_QUEUED);
    if (!measured) throw unknownSigner(signer);
    return { ...measured, inFlightCount: standing.inFlight, at: this.clock.now() };
  }
}
