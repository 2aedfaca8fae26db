import { Injectable } from '@nestjs/common';
import type { ChainConnector } from '../../chain/index.js';
import { BumpAttempts, type BumpResult } from '../../sending/index.js';
import type { Lease } from '../../signers/index.js';
import { type AttemptFees, ManagedTxRepository, type RequestedFees } from '../../transactions/index.js';
import { CommandStore } from '../domain/command-store.js';
import { commandVerdict } from '../domain/command-verdict.js';
import type { Decision, TxCommand } from '../domain/tx-command.js';

const REFUSALS = {
  bumped: null,
  capped: 'a higher price is above the caps',
  above_market: 'its price is above the market already',
  not_possible: 'it cannot be bumped now',
} as const satisfies Record<BumpResult, string | null>;

/** Carries out speed-ups, each of them once: signs the payload again at a higher price, whatever its age and its place among the signer's nonces. */
@Injectable()
export class SpeedUpSent {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly bump: BumpAttempts,
    private readonly store: CommandStore,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[], command: TxCommand): Promise<Decision> {
    const { commandId } = command;
    // A send that failed does not undo the bump, which was stored together with the end of the command.
    if (!(await this.store.isQueued(commandId))) return { commandId, refusal: null };
    const [tx] = await this.repository.byIds([command.txId]);
    if (!tx) return { commandId, refusal: 'no such transaction' };
    const verdict = commandVerdict('speed_up', tx);
    if (verdict.kind === 'refused') return { commandId, refusal: verdict.detail };
    const wanted = { tx, force: true, fees: feesOf(command.fees) };
    // In one commit: a speed-up that is carried out twice would raise the price twice.
    const results = await this.bump.execute(chain, leases, [wanted], (fence) =>
      this.store.decide([{ commandId, refusal: null }], fence.tx),
    );
    return { commandId, refusal: REFUSALS[results.get(tx.id) ?? 'not_possible'] };
  }
}

/** Fees that the client left out are up to the rule of bumps. */
function feesOf(asked: RequestedFees | null): Partial<AttemptFees> | null {
  if (asked === null) return null;
  const { gasPrice, ...fees } = asked;
  const prices = gasPrice === null ? fees : { ...fees, maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice };
  return Object.fromEntries(Object.entries(prices).filter(([, wei]) => wei !== null));
}
