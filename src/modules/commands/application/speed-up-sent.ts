import { Injectable } from '@nestjs/common';
import type { ChainConnector } from '../../chain/index.js';
import { BumpAttempts, type BumpResult } from '../../sending/index.js';
import type { Lease } from '../../signers/index.js';
import { type AttemptFees, ManagedTxRepository, type RequestedFees } from '../../transactions/index.js';
import { commandVerdict } from '../domain/command-verdict.js';
import type { Decision, TxCommand } from '../domain/tx-command.js';

const REFUSALS = {
  bumped: null,
  capped: 'a higher price is above the caps',
  above_market: 'its price is above the market already',
  not_possible: 'it cannot be bumped now',
} as const satisfies Record<BumpResult, string | null>;

/** Carries out speed-ups: signs the payload again at a higher price, whatever its age and its place among the signer's nonces. */
@Injectable()
export class SpeedUpSent {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly bump: BumpAttempts,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[], command: TxCommand): Promise<Decision> {
    const { commandId } = command;
    const [tx] = await this.repository.byIds([command.txId]);
    if (!tx) return { commandId, refusal: 'no such transaction' };
    const verdict = commandVerdict('speed_up', tx);
    if (verdict.kind === 'refused') return { commandId, refusal: verdict.detail };
    const results = await this.bump.execute(chain, leases, [{ tx, force: true, fees: feesOf(command.fees) }]);
    return { commandId, refusal: REFUSALS[results.get(tx.id) ?? 'not_possible'] };
  }
}

/** One explicit fee alone is raised together with the other one by the rule of bumps. */
function feesOf(asked: RequestedFees | null): AttemptFees | null {
  if (asked === null) return null;
  const maxFeePerGas = asked.gasPrice ?? asked.maxFeePerGas ?? 0n;
  const maxPriorityFeePerGas = asked.gasPrice ?? asked.maxPriorityFeePerGas ?? 0n;
  return { maxFeePerGas, maxPriorityFeePerGas };
}
