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
import { slotKey } from '../../signers/index.js';

/** What the chain says of a hold. */
export type HoldVerdict = { readonly tx: ManagedTx; readonly signer: ManagedTx['signer'] } & (
  | { readonly kind: 'sent'; readonly sent: readonly SentTransaction[] }
  /** Its nonce is used, and no endpoint names the transaction, by two looks at different blocks. */
  | { readonly kind: 'used' }
  /** It is over, and nothing with its nonce is in a block or in a pool, by two looks at different blocks. */
  | { readonly kind: 'unused' }
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
    for (const { tx } of holds) if (tx.nonce >= seenOf(tx).pending) this.observations.forget(usedKey(tx));
    const asked = holds.filter(({ tx, isOver }) => isOver || tx.nonce < seenOf(tx).pending);
    if (asked.length === 0) return [];
    const pools = await pooledOf(chain, asked);
    const used = asked.filter(({ tx }) => tx.nonce < seenOf(tx).pending);
    const uses = await chain.nonceUses(
      used.map(({ tx }) => ({ account: tx.signer.address, nonce: tx.nonce, hashes: [] })),
    );
    const useOf = new Map(used.map(({ tx }, i) => [tx.id, uses[i]]));
    const isProven = await this.unusedTwice(chain, asked, pools, seenOf);
    return asked.flatMap(({ tx, isOver }): HoldVerdict[] => {
      const use = useOf.get(tx.id);
      const mined = use?.kind === 'passed' && use.user?.sent ? [use.user.sent] : [];
      const pooled = pools.get(signerKey(tx.signer))?.transactions.filter(({ nonce }) => nonce === tx.nonce) ?? [];
      const sent = mined.length > 0 ? mined : pooled;
      const { signer } = tx;
      if (sent.length > 0) return [{ tx, signer, kind: 'sent', sent }];
      if (use?.kind === 'passed') return this.isUsedTwice(tx, use.head) ? [{ tx, signer, kind: 'used' }] : [];
      return isOver && isProven.has(slotKey(tx)) ? [{ tx, signer, kind: 'unused' }] : [];
    });
  }

  /** From then on its sender cannot give it back, so one answer is not enough. */
  private isUsedTwice(tx: ManagedTx, head: BlockRef): boolean {
    return this.observations.agree('move_payload', usedKey(tx), 'used', head);
  }

  /**
   * A nonce is given up only when the chain waits for it, at every endpoint: then a pool that had a transaction with it would count it as pending.
   * @returns keys of the slots that two looks at different blocks show unused
   */
  private async unusedTwice(
    chain: ChainConnector,
    asked: readonly WaitingHold[],
    pools: ReadonlyMap<string, PooledTransactions>,
    seenOf: (tx: ManagedTx) => Seen,
  ): Promise<ReadonlySet<string>> {
    const over = asked.filter(({ tx, isOver }) => {
      const { latest, pending } = seenOf(tx);
      const hiddenBelow = pools.get(signerKey(tx.signer))?.hiddenBelow ?? tx.nonce + 1n;
      const isNext = isOver && latest === tx.nonce && pending <= tx.nonce && hiddenBelow <= tx.nonce;
      if (!isNext) this.observations.forget(observationKey(tx));
      return isNext;
    });
    if (over.length === 0) return new Set();
    const agreed = await chain.agreedCounts(
      over.map(({ tx }) => tx.signer.address),
      'pending',
    );
    return new Set(
      over.flatMap(({ tx }, i) => {
        const count = agreed[i];
        if (!count || count.nonce !== tx.nonce) return [];
        const isProven = this.observations.agree('move_payload', observationKey(tx), `${count.nonce}`, count.block);
        return isProven ? [slotKey(tx)] : [];
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

function usedKey(tx: ManagedTx): string {
  return `used ${observationKey(tx)}`;
}

function observationKey(tx: ManagedTx): string {
  return `hold ${tx.id}`;
}
