import { InvariantViolation } from '../../../kernel/errors.js';
import { grantNonces, type SequenceState, type SlotHolder, type SlotRef } from '../../signers/index.js';
import { ManagedTx } from '../../ledger/index.js';
import type { Spending } from '../../policies/index.js';
import type { ReadyTx } from './prepare-pending.js';
import { kindOf } from './pool-turns.js';

type Grant = ReturnType<typeof grantNonces> & {
  /** New nonces that no tx gets. */
  readonly free: readonly bigint[];
};

/** The nonces that some txs of one signer get. */
export interface Allocation {
  readonly txs: readonly ManagedTx[];
  readonly slots: readonly SlotHolder[];
  readonly cursor: { readonly from: SequenceState; readonly to: bigint };
  /** The slots of nonces that authorizations of their own senders use. */
  readonly free: readonly SlotRef[];
}

/**
 * A tx that authorizes its own account uses two nonces: its own, and the next one for the authorization. {@link PoolTurns} lets nothing else
 * through with it, and has the chain asked afterwards. If a no-op was mined instead, the second nonce is unused: its slot is free from
 * the start, so that the next payload gets it. If it was used, alignment forgets the slot. After a refusal both are free, and used again.
 */
function withOwnNonce({ cursor, released }: SequenceState): Grant {
  const [lowest, next] = released;
  if (lowest !== undefined && next === lowest + 1n) return { nonces: [lowest], cursor, free: [] };
  return { nonces: [cursor], cursor: cursor + 2n, free: [cursor + 1n] };
}

/**
 * Payloads get the lowest nonces that no outside sender ever had, so that what is out with the nonce of an outside sender is never a payload of ours
 * (docs/decisions/0043-holds.md). Holds get what is left first, then the others.
 */
function inOrder(
  { cursor, released, outside }: SequenceState,
  ready: readonly ReadyTx[],
): ReturnType<typeof grantNonces> {
  const holds = ready.filter(({ tx }) => tx.isHold).length;
  const again = grantNonces(cursor, outside, Math.min(holds, outside.length)).nonces;
  const { nonces: others, cursor: next } = grantNonces(cursor, released, ready.length - again.length);
  const [forHolds, forAll] = [[...again], [...others]];
  const nonces = ready.flatMap(({ tx }) => (tx.isHold ? forHolds.shift() : undefined) ?? forAll.shift() ?? []);
  return { nonces, cursor: next };
}

/**
 * @param ready of one signer, in the order in which they get nonces
 * @param reserves what is reserved for their slots, by their ids
 */
export function allocateSequence(
  sequence: SequenceState,
  ready: readonly ReadyTx[],
  reserves: ReadonlyMap<string, Spending>,
): Allocation {
  const alone = ready.find(({ request }) => kindOf(request.payload) === 'alone');
  const { signer } = sequence;
  const grant = alone ? withOwnNonce(sequence) : { ...inOrder(sequence, ready), free: [] };
  const txs = ready.map(({ tx, gasLimit }, index) => {
    const nonce = grant.nonces[index];
    if (nonce === undefined) throw new InvariantViolation('fewer nonces were granted than requested');
    const copy = ManagedTx.rehydrate(tx.progress);
    copy.allocated(nonce, gasLimit);
    return copy;
  });
  return {
    txs,
    slots: txs.map(({ signer: holder, nonce, id, isHold }) => {
      const reserve = reserves.get(id);
      return { signer: holder, nonce, txId: id, isOutside: isHold, ...(reserve && { reserve }) };
    }),
    cursor: { from: sequence, to: grant.cursor },
    free: grant.free.map((nonce) => ({ signer, nonce })),
  };
}
