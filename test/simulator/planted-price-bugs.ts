import { Injectable } from '@nestjs/common';
import type { Hash } from '../../src/kernel/hex.js';
import type { ChainId } from '../../src/kernel/signer-id.js';
import { CloseUnwanted } from '../../src/modules/commands/application/close-unwanted.js';
import { CommandStore, type Decision, type TxCommand } from '../../src/modules/commands/domain/tx-command.js';
import { PriceBumps, type PricedBump } from '../../src/modules/sending/application/price-bumps.js';
import { FeeRules } from '../../src/modules/sending/index.js';
import { Custody, FencedUnitOfWork, type Lease, type SlotRef } from '../../src/modules/signers/index.js';
import { type Attempt, ManagedTxRepository, WriteChanges } from '../../src/modules/ledger/index.js';
import { AttemptRepository } from '../../src/modules/ledger/domain/attempt.repository.js';
import { PgAttemptRepository } from '../../src/modules/ledger/infrastructure/pg-attempt.repository.js';
import { PgTx } from '../../src/platform/database/pg-tx.js';
import type { PlantedBug } from './planted-bug.js';

/** Raises a price by less than a pool wants for a replacement. */
@Injectable()
class SmallBumps extends PriceBumps {
  override async execute(...of: Parameters<PriceBumps['execute']>): Promise<PricedBump[]> {
    return (await super.execute(...of)).map((bump) =>
      'draft' in bump ? { ...bump, draft: lowered(bump.draft) } : bump,
    );
  }
}

function lowered<Draft extends Pick<Attempt, 'fees'>>(draft: Draft): Draft {
  const { maxFeePerGas, maxPriorityFeePerGas } = draft.fees;
  const fees = { maxFeePerGas: part(maxFeePerGas), maxPriorityFeePerGas: part(maxPriorityFeePerGas) };
  return { ...draft, fees: { ...draft.fees, ...fees } };
}

/** An eighth more, and then a tenth less of that. */
function part(price: bigint): bigint {
  return (price * 9n) / 10n;
}

/** Knows of each payload only the price that was signed last. */
@Injectable()
class LastPrices extends PgAttemptRepository {
  override async ofSlots(slots: readonly SlotRef[]): Promise<Attempt[]> {
    const attempts = await super.ofSlots(slots);
    return attempts.filter((attempt, index) => !attempts.slice(index + 1).some((later) => isBumpOf(later, attempt)));
  }

  override async byHashes(chainId: ChainId, hashes: readonly Hash[]): Promise<Attempt[]> {
    const found = await super.byHashes(chainId, hashes);
    const known = new Set((await this.ofSlots(found)).map(({ txHash }) => txHash));
    return found.filter(({ txHash }) => known.has(txHash));
  }
}

function isBumpOf(later: Attempt, earlier: Attempt): boolean {
  return (
    later.txId === earlier.txId &&
    later.nonce === earlier.nonce &&
    later.kind === 'payload' &&
    earlier.kind === 'payload'
  );
}

/** Leaves the slot of a cancelled payload to a no-op, and the payload waits for another nonce. */
@Injectable()
class MovingCancel extends CloseUnwanted {
  constructor(
    repository: ManagedTxRepository,
    store: CommandStore,
    attempts: AttemptRepository,
    fees: FeeRules,
    write: WriteChanges,
    custody: Custody,
    private readonly unitOfWork: FencedUnitOfWork,
  ) {
    super(repository, store, attempts, fees, write, custody);
  }

  override async cancel(leases: readonly Lease[], { commandId, txId }: TxCommand): Promise<Decision> {
    await this.unitOfWork.run(leases, 'cancel', async (fence) => {
      for (const { token } of leases)
        await PgTx.of(fence.tx).query(
          {
            name: 'moving_cancel',
            text: `WITH gone AS (UPDATE managed_tx t SET state = 'PENDING', nonce = NULL, version = t.version + 1, next_resubmit_at = NULL, sub_state = NULL
                                   FROM managed_tx old WHERE old.tx_id = t.tx_id AND t.tx_id = $1 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')
                                  RETURNING t.tx_id, t.chain_id, old.state AS before),
                        freed AS (UPDATE signer_nonce_allocation s SET tx_id = NULL, fencing_token = $2 FROM gone WHERE s.tx_id = gone.tx_id)
                   INSERT INTO tx_event (chain_id, tx_id, reason, from_state, to_state, node_id, fencing_token)
                   SELECT chain_id, tx_id, 'updated', before, 'PENDING', $3, $2 FROM gone`,
          },
          [txId, token, fence.nodeId],
        );
    });
    return { commandId, refusal: null };
  }
}

/** What goes wrong with prices and with the races that clients ask for. */
export const PRICE_BUGS: readonly PlantedBug[] = [
  {
    name: 'a bump below the rule',
    from: 10,
    sabotage: [[PriceBumps, { provide: PriceBumps, useClass: SmallBumps }]],
    shows: /^fees: .* may be out/,
  },
  {
    name: 'a bump that forgets the attempt before it',
    from: 16,
    sabotage: [[AttemptRepository, { provide: AttemptRepository, useClass: LastPrices }]],
    shows: /^(I7|I8|I9|rule 23)/,
  },
  {
    name: 'a cancel that moves the payload to another nonce',
    from: 8,
    sabotage: [[CloseUnwanted, { provide: CloseUnwanted, useClass: MovingCancel }]],
    shows: /^(I8: payload|rule 23)/,
  },
];
