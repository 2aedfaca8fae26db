import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { Findings } from '../../../src/modules/lost-commits/application/findings.js';
import { HoldBack } from '../../../src/modules/lost-commits/application/hold-back.js';
import type { ManagedTx } from '../../../src/modules/transactions/domain/managed-tx.js';
import type { ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aManagedTx, aSigner } from '../../support/builders.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const BATCH = 7;
const FINDINGS = new Findings(
  { signer: SIGNER, cursor: 3n, open: [], known: true, suspect: true },
  3n,
  [],
  5n,
  false,
  false,
);

let waiting: ManagedTx[];
/** Ids of those that wait still. */
let locked: Set<string>;
let rooms: unknown;
let saved: ManagedTx[];
let work: UnfencedWork;
let log: RecordingLog;

beforeEach(async () => {
  waiting = ['a', 'b'].map((txId) => aManagedTx({ txId }).build());
  [locked, saved, work, log] = [new Set(['b']), [], new UnfencedWork(), new RecordingLog()];
});

function hold(): Promise<void> {
  return new HoldBack(
    work,
    {
      nextPending: async (asked: unknown) => ((rooms = asked), waiting.map((tx) => ({ tx }))),
      lockPending: async (_fence: unknown, ids: readonly string[]) => new Set(ids.filter((id) => locked.has(id))),
      save: async (_fence: unknown, txs: readonly ManagedTx[]) => void saved.push(...txs),
    } as unknown as ManagedTxRepository,
    Object.assign(new ExecutionConfig(), { batchSize: BATCH }),
    log,
  ).execute(LEASE, FINDINGS);
}

describe('a signer that stands still', () => {
  it('says so in the first of its txs that wait still', async () => {
    await hold();
    expect([rooms, work.tokens]).toEqual([[{ signer: SIGNER, room: BATCH }], [[1n]]]);
    expect(saved).toMatchObject([{ id: 'b', state: 'PENDING', timers: { resubmit: { inMs: 1_000 } } }]);
    expect(saved[0]?.progress).toMatchObject({
      subState: 'NONCE_SYNC',
      lastError: 'the database may have lost commits, and it is not known yet what is out for this signer',
    });
  });

  it('says so in the log, with what is known, also when nothing waits', async () => {
    waiting = [];
    await hold();
    expect(log.lines).toMatchObject([
      { fields: { cursor: 3n, chainNonce: 3n, hiddenBelow: 5n, unread: false, suspect: true } },
    ]);
    expect(work.tokens).toEqual([]);
  });
});
