import { beforeEach, describe, expect, it } from '@jest/globals';
import { signerKey } from '../../../src/kernel/signer-id.js';
import { CommittedCursors, CommitsLost } from '../../../src/modules/lost-commits/application/committed-cursors.js';
import type { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { aSigner } from '../../support/builders.js';

const SIGNER = aSigner();

let reported: string[];
let cursors: CommittedCursors;

beforeEach(() => {
  reported = [];
  cursors = new CommittedCursors({ report: (what: string) => void reported.push(what) } as unknown as DatabaseWatch);
});

function found(cursor: bigint | null): () => void {
  const known = new Map(cursor === null ? [] : [[signerKey(SIGNER), cursor] as const]);
  return () => cursors.expect([SIGNER], known);
}

describe('a cursor', () => {
  it('that this process has not moved may be anywhere, or nowhere', () => {
    expect(found(0n)).not.toThrow();
    expect(found(null)).not.toThrow();
  });

  it('is behind the highest nonce that was committed, and a lower one tells of lost commits', () => {
    cursors.committed([
      { signer: SIGNER, nonce: 7n },
      { signer: SIGNER, nonce: 3n },
    ]);
    expect(found(8n)).not.toThrow();
    expect(reported).toEqual([]);
    expect(found(7n)).toThrow(CommitsLost);
    expect(found(null)).toThrow(CommitsLost);
    expect(reported).toEqual(['cursor_went_backwards', 'cursor_went_backwards']);
  });

  it('is believed again when what is out is known', () => {
    cursors.committed([{ signer: SIGNER, nonce: 7n }]);
    cursors.forget(aSigner(2));
    expect(found(7n)).toThrow(CommitsLost);
    cursors.forget(SIGNER);
    expect(found(7n)).not.toThrow();
  });
});
