import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { poolTurn } from '../../../src/modules/lanes/application/pool-turns.js';
import type { PoolKind } from '../../../src/modules/ledger/index.js';

const kind = fc.constantFrom<PoolKind>('plain', 'blob', 'alone');

describe('the turn of a pool', () => {
  it('never lets two kinds be in flight together, nor a second one with one that must be alone', () => {
    fc.assert(
      fc.property(
        fc.array(kind, { minLength: 1, maxLength: 6 }),
        fc.option(kind),
        fc.option(kind),
        (waiting, inFlight, next) => {
          const { admitted } = poolTurn(waiting, inFlight, next);
          const together = [...waiting.filter((_, at) => admitted[at]), ...(inFlight === null ? [] : [inFlight])];
          const isNew = admitted.includes(true);
          if (isNew) expect(new Set(together).size).toBe(1);
          if (isNew && together.includes('alone')) expect(together).toHaveLength(1);
        },
      ),
    );
  });

  it('lets all of one kind through while nothing else waits', () => {
    expect(poolTurn(['plain', 'plain'], null, null)).toEqual({ admitted: [true, true], next: null });
    expect(poolTurn(['blob', 'blob'], 'blob', null)).toEqual({ admitted: [true, true], next: null });
  });

  it('begins with the kind that is first in the queue', () => {
    expect(poolTurn(['blob', 'plain', 'blob'], null, null)).toEqual({ admitted: [true, false, true], next: 'plain' });
    expect(poolTurn(['alone', 'alone'], null, null)).toEqual({ admitted: [true, false], next: null });
  });

  it('lets nothing through while another kind waits for what is in flight, so that its turn comes', () => {
    expect(poolTurn(['plain', 'blob'], 'plain', null)).toEqual({ admitted: [true, false], next: 'blob' });
    expect(poolTurn(['plain'], 'plain', 'blob')).toEqual({ admitted: [false], next: 'blob' });
    expect(poolTurn(['plain', 'blob'], null, 'blob')).toEqual({ admitted: [false, true], next: 'plain' });
    expect(poolTurn(['plain'], 'blob', 'plain')).toEqual({ admitted: [false], next: 'plain' });
  });

  it('gives a turn back that was taken', () => {
    expect(poolTurn(['blob'], null, 'blob')).toEqual({ admitted: [true], next: null });
  });
});
