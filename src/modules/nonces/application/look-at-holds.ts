import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { type ChainId, signerKey, signersOf } from '../../../kernel/signer-id.js';
import {
  type BlockRef,
  type ChainConnector,
  Chains,
  type PooledTransactions,
  SecondObservations,
  type SentTransaction,
} from '../../chain/index.js';
import type { ManagedTx, WaitingHold } from '../../ledger/index.js';

/** What the chain says of a hold. */
export type HoldVerdict = { readonly tx: ManagedTx; readonly signer: ManagedTx['signer'] } & (
  | { readonly kind: 'sent'; readonly sent: readonly SentTransaction[] }
  /** Its nonce is used, and no endpoint names the transaction, by two looks at different blocks. */
  | { readonly kind: 'used' }
  /** It is over, and nothing with its nonce is in a block or in a pool, by two looks at different blocks. */
  | { readonly kind: 'unused' }
  /** It is overdue, and nothing with its nonce was seen in two looks at different blocks, but not every endpoint says that there is nothing. */
  | { readonly kind: 'unproven' }
);

interface Seen {
  /** The lowest count of all endpoints, and the highest one with pools. */
  readonly latest: bigint;
  readonly pending: bigint;
}

/**
 * Asks the chain what became of the nonces of outside senders. Only a look: what is found is compared with our own payloads before it counts as
 * theirs (docs/invariants.md, I16).
 */
@Injectable()
export class LookAtHolds {
  constructor(
    private readonly chains: Chains,
    private readonly observations: SecondObservations,
  ) {}

  /** @returns nothing of those about which the chain says nothing yet */
  async execute(chainId: ChainId, holds: readonly WaitingHold[]): Promise<HoldVerdict[]> {
    if (holds.length === 0) return [];
    const chain = this.chains.get(chainId);
    const signers = signersOf(holds.map(({ tx }) => tx));
    const counts = await chain.accountCounts(signers.map(({ address }) => address));
    const seen = new Map(signers.map((signer, i) => [signerKey(signer), counts[i] ?? { latest: 0n, pending: 0n }]));
    const seenOf = ({ signer }: ManagedTx): Seen => seen.get(signerKey(signer)) ?? { latest: 0n, pending: 0n };
    for (const { tx, isOver } of holds) {
      if (tx.nonce >= seenOf(tx).pending) this.observations.forget(usedKey(tx));
      if (!isOver) this.observations.forget(observationKey(tx));
    }
    const asked = holds.filter(({ tx, isOver }) => isOver || tx.nonce < seenOf(tx).pending);
    if (asked.length === 0) return [];
    const pools = await pooledOf(chain, asked);
    const used = asked.filter(({ tx }) => tx.nonce < seenOf(tx).pending);
    const uses = await chain.nonceUses(
      used.map(({ tx }) => ({ account: tx.signer.address, nonce: tx.nonce, hashes: [] })),
    );
    const useOf = new Map(used.map(({ tx }, i) => [tx.id, uses[i]]));
    const unseen = asked.filter((hold) => this.isUnseen(hold, pools, seenOf));
    const proven = await this.unusedTwice(chain, unseen);
    const overdue = await this.overdueTwice(chain, asked);
    return asked.flatMap((hold): HoldVerdict[] => {
      const { tx } = hold;
      const use = useOf.get(tx.id);
      const mined = use?.kind === 'passed' && use.user?.sent ? [use.user.sent] : [];
      const pooled = pools.get(signerKey(tx.signer))?.transactions.filter(({ nonce }) => nonce === tx.nonce) ?? [];
      const sent = mined.length > 0 ? mined : pooled;
      const { signer } = tx;
      if (sent.length > 0) return [{ tx, signer, kind: 'sent', sent }];
      if (use?.kind === 'passed') return this.isUsedTwice(tx, use.head) ? [{ tx, signer, kind: 'used' }] : [];
      if (proven.has(hold)) return [{ tx, signer, kind: 'unused' }];
      return overdue.has(hold) ? [{ tx, signer, kind: 'unproven' }] : [];
    });
  }

  /** From then on its sender cannot give it back, so one answer is not enough. */
  private isUsedTwice(tx: ManagedTx, head: BlockRef): boolean {
    return this.observations.agree('move_payload', usedKey(tx), 'used', head);
  }

  /**
   * Whether it is over, and the chain waits for just its nonce at the endpoints that answer: then a pool that had a transaction with it would count it
   * as pending.
   */
  private isUnseen(
    { tx, isOver }: WaitingHold,
    pools: ReadonlyMap<string, PooledTransactions>,
    seenOf: (tx: ManagedTx) => Seen,
  ): boolean {
    const { latest, pending } = seenOf(tx);
    const hiddenBelow = pools.get(signerKey(tx.signer))?.hiddenBelow ?? tx.nonce + 1n;
    const isNext = latest === tx.nonce && pending <= tx.nonce && hiddenBelow <= tx.nonce;
    if (!isNext) this.observations.forget(observationKey(tx));
    return isOver && isNext;
  }

  /** @returns those that every endpoint shows unused, by two looks at different blocks */
  private async unusedTwice(chain: ChainConnector, unseen: readonly WaitingHold[]): Promise<ReadonlySet<WaitingHold>> {
    const counts = await chain.equalCounts(unseen.map(({ tx }) => tx.signer.address));
    return new Set(
      unseen.filter(({ tx }, i) => {
        const count = counts[i];
        if (count?.nonce === tx.nonce)
          return this.observations.agree('release_hold', observationKey(tx), valueOf(tx), count.block);
        // An endpoint may have had something between two looks.
        this.observations.forget(observationKey(tx));
        return false;
      }),
    );
  }

  /**
   * One endpoint that is silent, stands still or hides its pool must not keep a nonce for ever: nothing is given back here, so half of them are enough.
   * @returns those that are overdue, and for which the chain waits, in two looks at different blocks
   */
  private async overdueTwice(chain: ChainConnector, asked: readonly WaitingHold[]): Promise<ReadonlySet<WaitingHold>> {
    const overdue = asked.filter(({ isOverdue }) => isOverdue);
    if (overdue.length === 0) return new Set();
    const counts = await chain.agreedCounts(
      overdue.map(({ tx }) => tx.signer.address),
      'pending',
    );
    return new Set(
      overdue.filter(({ tx }, i) => {
        const count = counts[i];
        const key = `overdue ${tx.id}`;
        if (count?.nonce === tx.nonce) return this.observations.agree('raise_cursor', key, valueOf(tx), count.block);
        this.observations.forget(key);
        return false;
      }),
    );
  }
}

async function pooledOf(
  chain: ChainConnector,
  asked: readonly WaitingHold[],
): Promise<ReadonlyMap<string, PooledTransactions>> {
  const groups = [...groupBy(asked, ({ tx }) => signerKey(tx.signer))];
  const questions = groups.flatMap(([, [first]]) =>
    first ? [{ account: first.tx.signer.address, from: first.tx.nonce }] : [],
  );
  const pools = await chain.pooledOf(questions);
  return new Map(groups.flatMap(([key], i) => (pools[i] ? [[key, pools[i]]] : [])));
}

/** What is extended begins anew. */
function valueOf({ nonce, progress }: ManagedTx): string {
  return `${nonce} ${progress.version}`;
}

function usedKey(tx: ManagedTx): string {
  return `used ${observationKey(tx)}`;
}

function observationKey(tx: ManagedTx): string {
  return `hold ${tx.id}`;
}
