import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { Findings } from '../../../src/modules/lost-commits/application/findings.js';
import { HoldBack } from '../../../src/modules/lost-commits/application/hold-back.js';
import type { ManagedTx } from '../../../src/modules/transactions/domain/managed-tx.js';
import type { ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aManagedTx, aSigner } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
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
let writes: RecordedWrites;
let log: RecordingLog;

beforeEach(() => {
  waiting = ['a', 'b'].map((txId) => aManagedTx({ txId }).build());
  [locked, writes, log] = [new Set(['b']), new RecordedWrites(), new RecordingLog()];
});

function hold(): Promise<void> {
  return new HoldBack(
    {
      nextPending: async (asked: unknown) => ((rooms = asked), waiting.map((tx) => ({ tx }))),
      lockPending: async (_fence: unknown, txs: readonly ManagedTx[]) =>
        new Set(txs.map(({ id }) => id).filter((id) => locked.has(id))),
    } as unknown as ManagedTxRepository,
    writes.asDoor(),
    Object.assign(new ExecutionConfig(), { batchSize: BATCH }),
    log,
  ).execute(LEASE, FINDINGS);
}

describe('a signer that stands still', () => {
  it('says so in the first of its txs that wait still', async () => {
    await hold();
    expect(rooms).toEqual([{ signer: SIGNER, room: BATCH }]);
    expect(writes.written).toMatchObject([{ operation: 'hold_back', tokens: [1n] }]);
    expect(writes.txs).toMatchObject([{ id: 'b', state: 'PENDING', timers: { resubmit: { inMs: 1_000 } } }]);
    expect(writes.txs[0]?.progress).toMatchObject({
      subState: 'NONCE_SYNC',
      lastError: 'the database may have lost commits: the transactions that this signer has sent are not all known yet',
    });
  });

  it('says so in the log, with what is known, also when nothing waits', async () => {
    waiting = [];
    await hold();
    expect(log.lines).toMatchObject([
      { fields: { cursor: 3n, chainNonce: 3n, hiddenBelow: 5n, unread: false, suspect: true } },
    ]);
    expect(writes.written).toEqual([]);
  });
});
