import { describe, expect, it } from '@jest/globals';
import { TRANSITIONS, TX_SUB_STATES } from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { Coverage } from '../../simulator/coverage.js';
import { COVERAGE, TOO_SELDOM } from '../../simulator/coverage-list.js';
import { FAVOURITES } from '../../simulator/favourites.js';
import { playOf } from '../../simulator/play.js';
import { Seen } from '../../simulator/seen.js';

const LIST = [
  { name: 'a reorg', notSimulated: null },
  { name: 'a fill', notSimulated: null },
  { name: 'a lost commit', notSimulated: 'the database keeps them' },
  { name: 'a seldom race', notSimulated: TOO_SELDOM },
];

function coverageOf(...runs: readonly (readonly string[])[]): Coverage {
  const coverage = new Coverage(LIST);
  for (const names of runs) {
    const seen = new Seen();
    for (const name of names) seen.note(name);
    coverage.add(seen.entries());
  }
  return coverage;
}

describe('the coverage of the simulator', () => {
  it('names what must happen and never did in any run', () => {
    expect(coverageOf(['a fill'], ['a fill']).missing()).toEqual(['a reorg']);
    expect(coverageOf(['a fill'], ['a reorg']).missing()).toEqual([]);
  });

  it('names what happens although the list says why it cannot', () => {
    expect(coverageOf(['a fill']).excusedInVain()).toEqual([]);
    expect(coverageOf(['a lost commit', 'a seldom race']).excusedInVain()).toEqual(['a lost commit']);
  });

  it('counts over all runs, and shows the reasons and what is not on the list', () => {
    expect(coverageOf(['a fill', 'a bell'], ['a fill']).table()).toEqual([
      '      0  a reorg',
      '      2  a fill',
      '      0  a lost commit (not simulated: the database keeps them)',
      '      0  a seldom race (not simulated: it happens too seldom to be asked for)',
      '      1  a bell (not on the list)',
    ]);
  });
});

describe('the list of what must happen', () => {
  const names = COVERAGE.map(({ name }) => name);

  it('has each name once', () => {
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('has every transition and every sub-state of a transaction', () => {
    const transitions = Object.entries(TRANSITIONS).flatMap(([from, targets]) =>
      targets.map((to) => `transition ${from} -> ${to}`),
    );
    expect(names).toEqual(
      expect.arrayContaining([...transitions, ...TX_SUB_STATES.map((each) => `sub-state ${each}`)]),
    );
  });

  it('has every mishap at a weak spot, and every write, favoured by one of some seeds in a row', () => {
    const row = Array.from({ length: FAVOURITES.length }, (_, index) => playOf(1_000 + index).favourite);
    const favoured = new Set(
      row.map((each) => {
        if (each?.kind === 'mishap') return `mishap ${each.mishap} at ${each.spot}`;
        return each?.kind === 'unanswered write' ? `unanswered write ${each.write}` : each?.kind;
      }),
    );
    const rare = names.filter((name) => /^mishap \w+ at |^unanswered write /.test(name));
    expect(rare.filter((name) => !favoured.has(name))).toEqual([]);
  });

  it('gives a reason for everything that is not simulated', () => {
    for (const { notSimulated } of COVERAGE) expect(notSimulated).not.toBe('');
  });
});
