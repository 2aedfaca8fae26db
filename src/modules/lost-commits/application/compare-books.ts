import { Injectable } from '@nestjs/common';
import { toJsonInteger } from '../../../kernel/quantities.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { type BlockRef, type ChainConnector, Chains, RpcUnavailable, SecondObservations } from '../../chain/index.js';
import { type Books, type ChainBehind, LostCommitsRepository } from '../../ledger/index.js';
import {
  FIRST_BLOCKS,
  type FirstHashes,
  isSameChain,
  isSuspect,
  originFrom,
  SETTLED_BLOCK,
  type Standing,
  standingOf,
} from '../domain/chain-and-books.js';

/** A signer as the chain shows it. */
export interface Compared {
  readonly books: Books;
  readonly standing: Standing;
  /** What to store of the first blocks of its chain; null when nothing is new. */
  readonly origin: readonly string[] | null;
  /** What the chain shows, unless it is even. */
  readonly shown: ChainBehind | null;
}

type AskedChain = Pick<ChainConnector, 'transactionCounts' | 'usedCounts' | 'blocks' | 'agreedBlocks'>;

/**
 * Compares the nonces that a chain calls used with those that we call consumed, and the chain with the one on which they were used
 * (docs/invariants.md, K8). Changes nothing.
 */
@Injectable()
export class CompareBooks {
  constructor(
    private readonly chains: Chains,
    private readonly repository: LostCommitsRepository,
    private readonly observations: SecondObservations,
  ) {}

  /**
   * Whether the chain is that on which a signer used its nonces; null when it is not known. Only where it is may a reorg take back what was
   * final: on another chain it would be executed again.
   */
  async onSameChain(chainId: ChainId, signers: readonly SignerId[]): Promise<(signer: SignerId) => boolean | null> {
    const books = await this.repository.books(signers);
    if (books.every(({ origin }) => origin.length === 0)) return () => true;
    const told = await firstBlocks(this.chains.get(chainId));
    const same = new Map(books.map(({ signer, origin }) => [signerKey(signer), isSameChain(origin, told)]));
    return (signer) => same.get(signerKey(signer)) ?? null;
  }

  /**
   * One look at one endpoint; only where it gives a reason, all of them are asked. In the order given.
   * @param mayBeReset false while the chain only grows: then a lower nonce is the reason to read first blocks that are stored
   */
  async execute(chainId: ChainId, signers: readonly SignerId[], mayBeReset = true): Promise<Compared[]> {
    const chain = this.chains.get(chainId);
    const books = signers.length === 0 ? [] : await this.repository.books(signers);
    const begun = books.filter((each) => each.begun);
    const readsBlocks = mayBeReset || begun.some(({ origin }) => origin.length < FIRST_BLOCKS.length);
    const [counts, told] =
      begun.length === 0
        ? [[], []]
        : await Promise.all([
            chain.transactionCounts(
              begun.map(({ signer }) => signer.address),
              'latest',
            ),
            readsBlocks ? blocksAsTold(chain) : [],
          ]);
    const suspects = new Set(begun.filter((each, index) => isSuspect(each, counts[index] ?? null, told)));
    const proven = await this.prove(chain, [...suspects]);
    const origin = await this.newOrigin(chain, begun, told);
    return books.map((each) => {
      const isNew = each.begun && !suspects.has(each) && origin.length > each.origin.length;
      return { standing: 'even', shown: null, ...proven.get(each), books: each, origin: isNew ? origin : null };
    });
  }

  private async prove(
    chain: AskedChain,
    suspects: readonly Books[],
  ): Promise<ReadonlyMap<Books, Pick<Compared, 'standing' | 'shown'>>> {
    if (suspects.length === 0) return new Map();
    const [answers, first] = await Promise.all([
      chain.usedCounts(
        suspects.map(({ signer, usedBelow, block }) => ({ account: signer.address, below: usedBelow, from: block })),
      ),
      firstBlocks(chain),
    ]);
    return new Map(
      suspects.map((books, index) => {
        const { isLower = null, count = null, block = null } = answers[index] ?? {};
        const isSame = isSameChain(books.origin, first);
        const shown: ChainBehind = {
          cause: isSame === false ? 'CHAIN_RESET' : 'LOWER_NONCE',
          chainNonce: count === null ? null : toJsonInteger(count),
          usedBelow: toJsonInteger(books.usedBelow),
          block: block && { number: block.number, hash: block.hash },
        };
        return [books, { standing: this.observed(books, standingOf(isLower, isSame), shown.cause, block), shown }];
      }),
    );
  }

  /** That the chain is behind needs two observations, unless it is known already. */
  private observed({ signer, behind }: Books, standing: Standing, cause: string, block: BlockRef | null): Standing {
    const key = `behind ${signerKey(signer)}`;
    if (standing !== 'behind') this.observations.forget(key);
    if (standing !== 'behind' || behind !== null) return standing;
    return block !== null && this.observations.agree('hold_signer', key, cause, block) ? 'behind' : 'unknown';
  }

  /** All endpoints are asked only for what is not stored and one of them tells. */
  private async newOrigin(chain: AskedChain, begun: readonly Books[], told: FirstHashes): Promise<readonly string[]> {
    const length = originFrom(told).length;
    if (begun.every(({ origin }) => origin.length >= length)) return [];
    const agreed = await chain.agreedBlocks([...FIRST_BLOCKS, SETTLED_BLOCK]);
    return originFrom(agreed.map((block) => block?.value ?? null));
  }
}

/** The hashes of the first blocks that the endpoints agree on. */
async function firstBlocks(chain: AskedChain): Promise<FirstHashes> {
  return (await chain.agreedBlocks(FIRST_BLOCKS)).map((block) => block?.value ?? null);
}

/** As one endpoint tells them. Some nodes do not keep old blocks, and nothing depends on them. */
async function blocksAsTold(chain: AskedChain): Promise<FirstHashes> {
  try {
    return (await chain.blocks([...FIRST_BLOCKS, SETTLED_BLOCK])).map((block) => block?.hash ?? null);
  } catch (error) {
    if (error instanceof RpcUnavailable) return [];
    throw error;
  }
}
