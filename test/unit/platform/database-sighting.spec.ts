import { describe, expect, it } from '@jest/globals';
import { type DatabaseSighting, evidenceOfLoss } from '../../../src/platform/database/database-sighting.js';

const EPOCH = { number: 1, startedAt: 'noon', system: 'a', timeline: 1 };
const BEFORE: DatabaseSighting = { epoch: EPOCH, system: 'a', timeline: 1, flushed: 1_000n };

function now(overrides: Partial<DatabaseSighting>): DatabaseSighting {
  return { ...BEFORE, flushed: 1_001n, ...overrides };
}

describe('evidence that a database lost commits', () => {
  it('is not seen in a database that goes on as it was', () => {
    expect(evidenceOfLoss(BEFORE, now({}))).toBeNull();
    expect(evidenceOfLoss(null, now({}))).toBeNull();
  });

  it('is not seen where a server tells nothing of itself', () => {
    expect(evidenceOfLoss(BEFORE, now({ system: null, timeline: null, flushed: null }))).toBeNull();
  });

  it.each([
    ['another server than the one that is stored', null, { system: 'b' }, 'other_server'],
    ['another timeline than the one that is stored', null, { timeline: 2 }, 'new_timeline'],
    ['a log that is shorter than it was', BEFORE, { flushed: 999n }, 'log_went_backwards'],
    ['an epoch that is gone', BEFORE, { epoch: null }, 'epoch_is_gone'],
    ['another epoch in its place', BEFORE, { epoch: { ...EPOCH, startedAt: 'one' } }, 'epoch_is_gone'],
  ] as const)('is %s', (_, before, seen, evidence) => {
    expect(evidenceOfLoss(before, now(seen))).toBe(evidence);
  });

  it('is left to whoever opened an epoch for it', () => {
    expect(evidenceOfLoss(BEFORE, now({ flushed: 999n, epoch: { ...EPOCH, number: 2 } }))).toBeNull();
  });
});
