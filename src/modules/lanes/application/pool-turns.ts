import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { type SignerId, signerKey } from '../../../kernel/signer-id.js';
import {
  InFlightLimits,
  LaneMemory,
  type PoolKind,
  type StoredRequest,
  type TxPayload,
  TxsInFlight,
} from '../../ledger/index.js';
import { AuthorizationTurns } from '../../nonces/index.js';

/** A payload that is worth a nonce. */
export interface Candidate {
  readonly tx: { readonly id: string; readonly signer: SignerId };
  readonly request: Pick<StoredRequest, 'payload'>;
}

/**
 * Holds payloads back that no pool takes beside what their signer has in flight ({@link PoolKind}), and those of a signer that is to sign an
 * authorization. Refused after they got a nonce, they would block everything behind them.
 */
@Injectable()
export class PoolTurns {
  constructor(
    private readonly inFlight: TxsInFlight,
    private readonly memory: LaneMemory,
    private readonly limits: InFlightLimits,
    private readonly authorizations: AuthorizationTurns,
  ) {}

  /**
   * Asks the database only while a special kind waits, or may be in flight, or an authorization is wanted.
   * @param candidates in the order of their queue
   * @returns ids of those that have to wait
   */
  async waiting(candidates: readonly Candidate[]): Promise<ReadonlySet<string>> {
    const groups = [...groupBy(candidates, ({ tx }) => signerKey(tx.signer)).values()].flatMap((group) => {
      const signer = group[0]?.tx.signer;
      const isSpecial = group.some(({ request }) => kindOf(request.payload) !== 'plain');
      if (!signer) return [];
      const isHeldBack = this.authorizations.isHeldBack(signer);
      return isSpecial || isHeldBack || this.memory.mayHaveKinds(signer)
        ? [{ signer, group, isSpecial, isHeldBack }]
        : [];
    });
    if (groups.length === 0) return new Set();
    const inFlight = await this.inFlight.kindsInFlight(groups.map(({ signer }) => signer));
    return new Set(
      groups.flatMap(({ signer, group, isSpecial, isHeldBack }, index) => {
        const kind = inFlight[index] ?? null;
        // An own authorization may have used a nonce that has a free slot, since the chain was asked.
        if (this.memory.mayHaveKinds(signer)) this.memory.alignAgain(signer);
        const { admitted, next } = poolTurn(
          group.map(({ request }) => kindOf(request.payload)),
          kind,
          this.memory.nextKind(signer),
        );
        this.memory.kindsSeen(signer, next, isSpecial || isKept(kind));
        if (group.some(({ request }, at) => admitted[at] === true && kindOf(request.payload) === 'alone'))
          this.limits.delegates(signer);
        // A payload that other signers have signed for goes on: their nonces wait for it.
        const mayPass = ({ request }: Candidate): boolean =>
          !isHeldBack || request.payload.authorizationList?.some((item) => 'authority' in item && 'r' in item) === true;
        return group.flatMap((item, at) => (admitted[at] === true && mayPass(item) ? [] : [item.tx.id]));
      }),
    );
  }
}

function isKept(kind: PoolKind | null): boolean {
  return kind !== null && kind !== 'plain';
}

interface PoolTurn {
  /** For each payload, whether it may get a nonce now. */
  readonly admitted: readonly boolean[];
  /** The kind that gets the next turn: nothing else is admitted until it had it. Null when no kind waits. */
  readonly next: PoolKind | null;
}

/**
 * Which payloads may get a nonce beside what is in flight. Kinds are never in flight together, and `alone` not even with its own. A kind that
 * has to wait gets the next turn, so a steady flow of another kind cannot keep it out.
 * @param waiting of the payloads, in the order of the queue
 * @param next of the turn before
 */
export function poolTurn(waiting: readonly PoolKind[], inFlight: PoolKind | null, next: PoolKind | null): PoolTurn {
  const turn = turnOf(waiting, inFlight, next);
  const first = waiting.indexOf(turn ?? 'alone');
  const admitted = waiting.map(
    (kind, at) => kind === turn && (kind !== 'alone' || (inFlight === null && at === first)),
  );
  const other = waiting.find((kind, at) => !(admitted[at] ?? false) && kind !== (turn ?? inFlight));
  return { admitted, next: other ?? (next === turn ? null : next) };
}

/** Null while what is in flight has to be mined before the next kind. */
function turnOf(waiting: readonly PoolKind[], inFlight: PoolKind | null, next: PoolKind | null): PoolKind | null {
  if (inFlight === null) return next ?? waiting[0] ?? null;
  return next === null || next === inFlight ? inFlight : null;
}

export function kindOf({
  blobHashes,
  authorizationList = [],
}: Pick<TxPayload, 'blobHashes' | 'authorizationList'>): PoolKind {
  if (blobHashes) return 'blob';
  return authorizationList.some((item) => 'signer' in item) ? 'alone' : 'plain';
}
