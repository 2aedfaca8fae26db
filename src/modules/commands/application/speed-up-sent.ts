import { Injectable } from '@nestjs/common';
import type { ChainConnector } from '../../chain/index.js';
import { BumpAttempts, type BumpResult } from '../../sending/index.js';
import type { Lease } from '../../signers/index.js';
import { type AttemptFees, type ManagedTx, ManagedTxRepository, type TxRequest } from '../../ledger/index.js';
import { CommandStore, type Decision, type TxCommand } from '../domain/tx-command.js';
import { commandVerdict, PRICE_REFUSALS } from '../domain/command-verdict.js';
import type { ChainAnswers } from './ask-chain.js';

const REFUSALS = {
  bumped: null,
  ...PRICE_REFUSALS,
  above_market: 'its price is above the market already',
  not_possible: 'it cannot be bumped now',
} as const satisfies Record<BumpResult, string | null>;

type Answered = ChainAnswers & { readonly quote: NonNullable<ChainAnswers['quote']> };

interface SpeedUp {
  readonly command: TxCommand;
  readonly tx: ManagedTx;
}

/** Carries out speed-ups, each of them once: signs the payloads again at a higher price, whatever their age and their place among the signer's nonces. */
@Injectable()
export class SpeedUpSent {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly bump: BumpAttempts,
    private readonly store: CommandStore,
  ) {}

  /** @param commands of different txs */
  async execute(
    chain: ChainConnector,
    leases: readonly Lease[],
    commands: readonly TxCommand[],
    said: Answered,
  ): Promise<Decision[]> {
    const txs = await this.repository.byIds(commands.map(({ txId }) => txId));
    const decisions: Decision[] = [];
    const wanted: SpeedUp[] = [];
    for (const command of commands) {
      const tx = txs.find(({ id }) => id === command.txId);
      const refusal = tx === undefined ? 'no such transaction' : refusalOf(tx);
      // A send that failed does not undo the bump, which was stored together with the end of the command.
      if ((await this.store.get(command.commandId))?.status !== 'QUEUED')
        decisions.push({ commandId: command.commandId, refusal: null });
      else if (tx === undefined || refusal !== null) decisions.push({ commandId: command.commandId, refusal });
      else wanted.push({ command, tx });
    }
    return [...decisions, ...(await this.speedUp(chain, leases, wanted, said))];
  }

  private async speedUp(
    chain: ChainConnector,
    leases: readonly Lease[],
    wanted: readonly SpeedUp[],
    { quote, balance }: Answered,
  ): Promise<Decision[]> {
    const bumps = wanted.map(({ tx, command }) => ({ tx, force: true, fees: feesOf(command.fees), balance }));
    const results = await this.bump.execute(chain, leases, bumps, {
      quote,
      // A speed-up that is carried out twice would raise the price twice.
      inSameCommit: (fence, bumped) =>
        this.store.decide(
          wanted
            .filter(({ tx }) => bumped.includes(tx.id))
            .map(({ command: { commandId } }) => ({ commandId, refusal: null })),
          fence.tx,
        ),
    });
    return wanted.map(({ tx, command: { commandId } }) => ({
      commandId,
      refusal: REFUSALS[results.get(tx.id) ?? 'not_possible'],
    }));
  }
}

function refusalOf(tx: ManagedTx): string | null {
  const verdict = commandVerdict('speed_up', tx);
  return verdict.kind === 'refused' ? verdict.detail : null;
}

/** Fees that the client left out are up to the rule of bumps. */
function feesOf(asked: TxRequest['fees'] | null): Partial<AttemptFees> | null {
  if (asked === null) return null;
  const { gasPrice, ...fees } = asked;
  const prices = gasPrice === null ? fees : { ...fees, maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice };
  return Object.fromEntries(Object.entries(prices).filter(([, wei]) => wei !== null));
}
