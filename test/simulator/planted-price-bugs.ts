import { Injectable } from '@nestjs/common';
import type { Hash } from '../../src/kernel/hex.js';
import type { ChainId } from '../../src/kernel/signer-id.js';
import { PriceBumps, type PricedBump } from '../../src/modules/sending/application/price-bumps.js';
import type { SlotRef } from '../../src/modules/signers/index.js';
import type { Attempt } from '../../src/modules/transactions/index.js';
import { AttemptRepository } from '../../src/modules/transactions/domain/attempt.repository.js';
import { PgAttemptRepository } from '../../src/modules/transactions/infrastructure/pg-attempt.repository.js';
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

/** What goes wrong with bumps. */
export const PRICE_BUGS: readonly PlantedBug[] = [
  {
    name: 'a bump below the rule',
    sabotage: [[PriceBumps, { provide: PriceBumps, useClass: SmallBumps }]],
    shows: /^fees: .* may be out/,
  },
  {
    name: 'a bump that forgets the attempt before it',
    from: 13,
    sabotage: [[AttemptRepository, { provide: AttemptRepository, useClass: LastPrices }]],
    shows: /^(I7|I8|I9|rule 23)/,
  },
];
