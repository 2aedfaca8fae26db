import { beforeEach, describe, expect, it } from '@jest/globals';
import { signerKey } from '../../../src/kernel/signer-id.js';
import { CommittedCursors, CommitsLost } from '../../../src/modules/lost-commits/application/committed-cursors.js';
import { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aSigner } from '../../support/builders.js';

const SIGNER = aSigner(1);
const OTHER = aSigner(2);

let reported: string[];
let cursors: CommittedCursors;

beforeEach(() => {
  reported = [];
  cursors = new CommittedCursors(fakeOf(DatabaseWatch, { report: (what) => void reported.push(what) }));
});

/** @param cursor of the signer, as the database has it; null when it does not know the signer */
function found(cursor: bigint | null): () => void {
  const known = new Map(cursor === null ? [] : [[signerKey(SIGNER), cursor] as const]);
  return () => cursors.expect([OTHER, SIGNER], known);
}

describe('a cursor', () => {
  it('that this process has not moved may be anywhere, or nowhere', () => {
    expect(found(0n)).not.toThrow();
    expect(found(null)).not.toThrow();
  });

  it('is at or above the place behind the highest nonce that was committed', () => {
    cursors.committed([
      { signer: SIGNER, nonce: 7n },
      { signer: SIGNER, nonce: 3n },
    ]);
    cursors.committed([{ signer: SIGNER, nonce: 6n }]);
    expect(found(8n)).not.toThrow();
    expect(found(9n)).not.toThrow();
    expect(reported).toEqual([]);
    expect(found(7n)).toThrow(CommitsLost);
  });

  it.each([
    ['lower', 7n, '7'],
    ['nowhere', null, '0'],
  ])('that is %s now shows that the database lost commits', (_where, cursor, place) => {
    cursors.committed([{ signer: SIGNER, nonce: 7n }]);
    expect(found(cursor)).toThrow(CommitsLost);
    expect(found(cursor)).toThrow(
      expect.objectContaining({
        code: 'commits_lost',
        message: 'the database has lost commits',
        advice: 'wait: Lockstep finds the transactions that this signer has sent, and then continues',
        facts: { signer: signerKey(SIGNER), committed: '8', found: place },
        retryable: true,
      }),
    );
    expect(reported).toEqual(['cursor_went_backwards', 'cursor_went_backwards']);
  });

  it('is believed again when what is out is known', () => {
    cursors.committed([{ signer: SIGNER, nonce: 7n }]);
    cursors.forget(OTHER);
    expect(found(7n)).toThrow(CommitsLost);
    cursors.forget(SIGNER);
    expect(found(7n)).not.toThrow();
  });
});
