import { describe, expect, it } from '@jest/globals';
import { type Look, type LowTx, nextLook, stuckTxs } from '../../../src/modules/lanes/domain/stuck-txs.js';
import { aManagedTx } from '../../support/builders.js';

const RULE = { bumpAfterBlocks: 5, bumpDepth: 3 };
const HEAD = 100;
/** Priced so long ago that it is due at the head, and one block later. */
const [OLD, FRESH] = [95, 96];

/** The block of the price, or more of the tx. */
type Priced = number | null | Partial<LowTx>;

function lowest(...priced: readonly Priced[]): LowTx[] {
  return priced.map((each, index) => ({
    tx: aManagedTx({ txId: `tx-${index}`, state: 'IN_MEMPOOL', nonce: BigInt(index) }).build(),
    isBumpable: true,
    pricedAtBlock: typeof each === 'number' || each === null ? each : OLD,
    wasTooCheap: false,
    ...(typeof each === 'object' ? each : {}),
  }));
}

const look = (...priced: readonly Priced[]): Look => stuckTxs(lowest(...priced), HEAD, RULE);
const due = (...priced: readonly Priced[]): string[] => look(...priced).due.map(({ id }) => id);

describe('a tx is due for a higher price', () => {
  it('when its newest attempt was priced bumpAfterBlocks blocks ago, and not one block earlier', () => {
    expect([due(OLD), due(FRESH)]).toEqual([['tx-0'], []]);
  });

  it('when it is not known at which block it was priced', () => {
    expect(due(null)).toEqual(['tx-0']);
  });

  it('when it was priced at a block that no chain can have: an endpoint told it', () => {
    expect([due(HEAD + 1_000), due(HEAD + 1_001)]).toEqual([[], ['tx-0']]);
  });

  it('in the next block, when a node refused its price', () => {
    const refusedAt = (pricedAtBlock: number) => due({ pricedAtBlock, wasTooCheap: true });
    expect([refusedAt(HEAD - 1), refusedAt(HEAD)]).toEqual([['tx-0'], []]);
  });

  it('only among the bumpDepth lowest nonces', () => {
    expect(due(OLD, OLD, OLD, OLD)).toEqual(['tx-0', 'tx-1', 'tx-2']);
    expect(due(FRESH, FRESH, FRESH, OLD)).toEqual([]);
  });

  it('also behind one that is not due', () => {
    expect(due(OLD, FRESH, OLD)).toEqual(['tx-0', 'tx-2']);
  });

  it('not behind one that another price cannot help, for it is blocked', () => {
    expect(due(OLD, { isBumpable: false }, OLD)).toEqual(['tx-0']);
  });

  it('not behind a nonce that nobody uses yet, for it is blocked', () => {
    const [first, , third] = lowest(OLD, OLD, OLD);
    const found = stuckTxs(
      [first, third].flatMap((low) => low ?? []),
      HEAD,
      RULE,
    );
    expect([found.due.map(({ id }) => id), found.nextIfQuiet]).toEqual([['tx-0'], HEAD + 1]);
  });
});

describe('when nothing is due, the next look', () => {
  const next = (...priced: readonly Priced[]): number | null => look(...priced).nextIfQuiet;

  it('is at the block at which the first tx is due', () => {
    expect(next(FRESH + 2, FRESH + 1)).toBe(HEAD + 2);
  });

  it('is at the next block when more than bumpDepth txs are old: they become the lowest', () => {
    expect(next(HEAD, HEAD, HEAD, OLD)).toBe(HEAD + 1);
    expect(next(HEAD, HEAD, HEAD, HEAD)).toBe(HEAD + RULE.bumpAfterBlocks);
  });

  it('is never when nothing is in flight', () => {
    expect(next()).toBeNull();
  });

  it('is some blocks later when the lowest tx cannot be helped by another price', () => {
    expect(next({ isBumpable: false }, OLD)).toBe(HEAD + RULE.bumpAfterBlocks);
  });
});

describe('the look after a due one', () => {
  const [tx] = lowest(OLD).map((low) => low.tx);
  const after = (found: Partial<Look>, anyBumped: boolean): number | null =>
    nextLook({ due: tx ? [tx] : [], nextIfQuiet: HEAD + 1, ...found }, anyBumped, HEAD, RULE);

  it('is at the next block after a bump, because the txs behind may be stuck as well', () => {
    expect(after({}, true)).toBe(HEAD + 1);
  });

  it('is not at each block while the caps or the market allow no other price', () => {
    expect(after({}, false)).toBe(HEAD + RULE.bumpAfterBlocks);
  });

  it('is what the look said when nothing was due', () => {
    expect([after({ due: [], nextIfQuiet: 103 }, false), after({ due: [], nextIfQuiet: null }, false)]).toEqual([
      103,
      null,
    ]);
  });
});
