import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Receipt } from '../../../src/modules/chain/index.js';
import type { ManagedTx, TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aHash, aManagedTx, aReceipt, aSigner } from '../../support/builders.js';
import {
  competeAgain,
  endRace,
  newestOf,
  type Race,
  racesOf,
  reopenRace,
  restWhileMined,
} from '../../../src/modules/confirmations/domain/race.js';

const NAMES = ['first', 'second', 'third'] as const;
type Name = (typeof NAMES)[number];

/** The first was replaced by the second, and that one by the third. All three have the same nonce. */
let txs: Record<Name, ManagedTx>;

const racer = (txId: string, progress: Partial<TxProgress>): ManagedTx =>
  aManagedTx({ txId, signer: aSigner(), nonce: 7n, gasLimit: 21_000n, state: 'IN_MEMPOOL', ...progress }).build();

beforeEach(() => {
  txs = {
    first: racer('first', { txHash: aHash(1), replacedBy: 'second', subState: 'REPLACING' }),
    second: racer('second', { txHash: aHash(2), replaces: 'first', replacedBy: 'third', subState: 'REPLACING' }),
    third: racer('third', { txHash: aHash(3), replaces: 'second' }),
  };
});

function raceWonBy(winner: Name, others: readonly ManagedTx[] = NAMES.map((name) => txs[name])): Race {
  const [race] = racesOf(
    [txs[winner]],
    others.filter(({ id }) => id !== winner),
  );
  if (!race) throw new Error('no race');
  return race;
}

const receiptOf = (name: Name): Receipt => aReceipt({ txHash: aHash(NAMES.indexOf(name) + 1) });
const states = (): string[] => NAMES.map((name) => txs[name].state);
const replacedBy = (): (string | null)[] => NAMES.map((name) => txs[name].progress.replacedBy);
const ids = (some: readonly ManagedTx[]): string[] => some.map(({ id }) => id);
const isSentAgain = (name: Name): boolean => txs[name].timers.resubmit !== 'clear';

/** The winner is mined, and the others rest. */
function mine(winner: Name): Race {
  txs[winner].mined(receiptOf(winner));
  const race = raceWonBy(winner);
  restWhileMined(race);
  return race;
}

/** The block of the winner is final. */
function finish(winner: Name, kind: 'payload' | 'no-op' = 'payload'): ManagedTx[] {
  txs[winner].mined(receiptOf(winner), kind);
  const race = raceWonBy(winner);
  restWhileMined(race);
  txs[winner].settled('execution reverted', null);
  return endRace(race);
}

/** A reorg deeper than finality orphans the block of the winner. */
function reopen(winner: Name): ManagedTx[] {
  const race = raceWonBy(winner);
  txs[winner].reorged();
  return reopenRace(race, receiptOf(winner).txHash);
}

describe('the rivals of a mined tx', () => {
  it('are the others of its slot, and not those of another nonce, account or chain', () => {
    const others = [
      racer('another nonce', { nonce: 8n }),
      racer('another account', { signer: aSigner(2) }),
      racer('another chain', { signer: { ...aSigner(), chainId: 1 } }),
      racer('without a nonce', { nonce: null, state: 'PENDING' }),
    ];
    expect(ids(raceWonBy('second', [...others, txs.first, txs.third]).rivals)).toEqual(['first', 'third']);
  });

  it('belong to the race of their own slot', () => {
    const other = racer('other', { nonce: 8n, replacedBy: 'rival' });
    const rival = racer('rival', { nonce: 8n, replaces: 'other' });
    const races = racesOf([txs.first, other], [txs.second, rival]);
    expect(races.map(({ winner, rivals }) => [winner.id, ids(rivals)])).toEqual([
      ['first', ['second']],
      ['other', ['rival']],
    ]);
  });
});

describe.each(NAMES)('while the %s of three is mined', (winner) => {
  const others = NAMES.filter((name) => name !== winner);

  it('the others rest: nothing of them is sent, and no receipt is asked for', () => {
    mine(winner);
    for (const name of others) {
      expect(txs[name]).toMatchObject({ state: 'IN_MEMPOOL', isResting: true });
      expect(txs[name].timers).toEqual({ resubmit: 'clear', receiptCheck: 'clear' });
    }
  });

  it('and a reorg orphans its block, the newest is sent again, and all are watched', () => {
    const race = mine(winner);
    for (const name of NAMES) txs[name].saved();
    txs[winner].reorged();
    expect(ids(competeAgain(race))).toEqual(others);
    expect(states()).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', 'IN_MEMPOOL']);
    expect(NAMES.filter(isSentAgain)).toEqual(['third']);
    for (const name of NAMES) expect(txs[name].timers.receiptCheck).toEqual({ inMs: 0 });
    expect(NAMES.map((name) => txs[name].isResting)).toEqual([true, true, false]);
  });
});

describe('when the block of the winner is final', () => {
  it.each<[Name, string[]]>([
    ['first', ['CONFIRMED', 'DROPPED', 'DROPPED']],
    ['second', ['REPLACED', 'CONFIRMED', 'DROPPED']],
    ['third', ['REPLACED', 'REPLACED', 'CONFIRMED']],
  ])('each ends by its place: the %s won', (winner, ends) => {
    expect(ids(finish(winner))).toEqual(NAMES.filter((name) => name !== winner));
    expect(states()).toEqual(ends);
  });

  it('the order in which the rivals are read changes nothing', () => {
    txs.first.mined(receiptOf('first'));
    endRace(raceWonBy('first', [txs.third, txs.second]));
    expect(states()).toEqual(['MINED', 'DROPPED', 'DROPPED']);
  });

  it('and it was the no-op of a cancelled replacement, what it replaced ends REPLACED', () => {
    txs.third.close('CANCELLED', 'cancelled by its client');
    finish('third', 'no-op');
    expect(states()).toEqual(['REPLACED', 'REPLACED', 'CANCELLED']);
  });

  it('and it reverted, the others end as if it had not', () => {
    txs.second.mined({ ...receiptOf('second'), status: 'reverted' });
    txs.second.settled('execution reverted', null);
    endRace(raceWonBy('second'));
    expect(states()).toEqual(['REPLACED', 'FAILED', 'DROPPED']);
  });

  it('the losers keep the receipt of the winner, so that a reorg can open the race again', () => {
    finish('second');
    for (const name of NAMES) expect(txs[name].progress.receipt?.txHash).toBe(aHash(2));
  });

  it('a rival that has ended before stays as it is', () => {
    txs.third = racer('third', { replaces: 'second', state: 'FAILED', failureReason: 'too large' });
    expect(ids(finish('first'))).toEqual(['second']);
    expect(txs.third).toMatchObject({ state: 'FAILED', progress: { receipt: null, failureReason: 'too large' } });
  });

  it('a rival that no node took has lost, too', () => {
    txs.third = racer('third', { replaces: 'second', state: 'ALLOCATED' });
    finish('first');
    expect(states()).toEqual(['CONFIRMED', 'DROPPED', 'DROPPED']);
  });

  it('a second replacement is DROPPED although the first one had failed before', () => {
    const failed = racer('failed', { replaces: 'first', state: 'FAILED' });
    txs.first = racer('first', { replacedBy: 'second' });
    txs.first.mined(receiptOf('first'));
    endRace(raceWonBy('first', [failed, txs.second, txs.third]));
    expect(states()).toEqual(['MINED', 'DROPPED', 'DROPPED']);
  });

  it('nothing ends without the receipt of the winner', () => {
    expect(endRace(raceWonBy('second'))).toEqual([]);
    expect(states()).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', 'IN_MEMPOOL']);
  });
});

describe.each(NAMES)('a reorg deeper than finality that orphans the block of the %s', (winner) => {
  it('opens the race of all three again, and only the newest is sent', () => {
    finish(winner);
    for (const name of NAMES) txs[name].saved();
    expect(ids(reopen(winner))).toEqual(NAMES.filter((name) => name !== winner));
    expect(states()).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', 'IN_MEMPOOL']);
    expect(replacedBy()).toEqual(['second', 'third', null]);
    expect(NAMES.filter(isSentAgain)).toEqual(['third']);
    expect(newestOf(NAMES.map((name) => txs[name]))?.id).toBe('third');
  });

  it.each(NAMES)('lets the %s win after it, and each ends by its place', (next) => {
    finish(winner);
    reopen(winner);
    finish(next);
    const ends = NAMES.map((_, n) => {
      const place = NAMES.indexOf(next);
      return n === place ? 'CONFIRMED' : n < place ? 'REPLACED' : 'DROPPED';
    });
    expect(states()).toEqual(ends);
  });
});

describe('a race that is opened again', () => {
  it('leaves out what had ended before it was decided', () => {
    txs.third = racer('third', { replaces: 'second', state: 'FAILED' });
    txs.second = racer('second', { replaces: 'first', txHash: aHash(2) });
    finish('first');
    expect(ids(reopen('first'))).toEqual(['second']);
    expect([states(), replacedBy()]).toEqual([
      ['IN_MEMPOOL', 'IN_MEMPOOL', 'FAILED'],
      ['second', null, null],
    ]);
  });

  it('leaves out what a block with another transaction decided', () => {
    finish('first');
    const race = raceWonBy('first');
    txs.first.reorged();
    expect(reopenRace(race, aHash(99))).toEqual([]);
    expect(states()).toEqual(['IN_MEMPOOL', 'DROPPED', 'DROPPED']);
  });
});

it('the newest of a slot is the one that nothing replaces, and there is none among none', () => {
  expect(newestOf([txs.first, txs.third, txs.second])?.id).toBe('third');
  expect([newestOf([txs.first, txs.second]), newestOf([])]).toEqual([undefined, undefined]);
});
