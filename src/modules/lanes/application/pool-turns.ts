import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { type SignerId, signerKey } from '../../../kernel/signer-id.js';
import {
  hasGrants,
  InFlightLimits,
  kindOf,
  LaneMemory,
  ManagedTxRepository,
  type PoolKind,
  type StoredRequest,
} from '../../transactions/index.js';
import { poolTurn } from '../domain/pool-turn.js';

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
    private readonly repository: ManagedTxRepository,
    private readonly memory: LaneMemory,
    private readonly limits: InFlightLimits,
  ) {}

  /**
   * Asks the database only while a special kind waits, or may be in flight, or an authorization is wanted.
   * @param candidates in the order of their queue
   * @returns ids of those that have to wait
   */
  async execute(candidates: readonly Candidate[]): Promise<ReadonlySet<string>> {
    const groups = [...groupBy(candidates, ({ tx }) => signerKey(tx.signer)).values()].flatMap((group) => {
      const signer = group[0]?.tx.signer;
      const isSpecial = group.some(({ request }) => kindOf(request.payload) !== 'plain');
      if (!signer) return [];
      const isHeldBack = this.memory.isHeldBack(signer);
      return isSpecial || isHeldBack || this.memory.mayHaveKinds(signer)
        ? [{ signer, group, isSpecial, isHeldBack }]
        : [];
    });
    if (groups.length === 0) return new Set();
    const inFlight = await this.repository.kindsInFlight(groups.map(({ signer }) => signer));
    return new Set(
      groups.flatMap(({ signer, group, isSpecial, isHeldBack }, index) => {
        const kind = inFlight[index] ?? null;
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
          !isHeldBack || hasGrants(request.payload.authorizationList);
        return group.flatMap((item, at) => (admitted[at] === true && mayPass(item) ? [] : [item.tx.id]));
      }),
    );
  }
}

function isKept(kind: PoolKind | null): boolean {
  return kind !== null && kind !== 'plain';
}
