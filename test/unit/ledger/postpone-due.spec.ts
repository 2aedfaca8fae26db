import { beforeEach, expect, it } from '@jest/globals';
import { sameSigner, type SignerId } from '../../../src/kernel/signer-id.js';
import { LeaseLost, type LeaseManager } from '../../../src/modules/signers/index.js';
import { PostponeDue } from '../../../src/modules/ledger/application/writing/postpone-due.js';
import { aManagedTx, aSigner } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [A, B] = [aSigner(1), aSigner(2)];
const TXS = [
  aManagedTx({ txId: 'a-1', signer: A }).build(),
  aManagedTx({ txId: 'b', signer: B }).build(),
  aManagedTx({ txId: 'a-2', signer: A }).build(),
];

let held: SignerId[];
let broken: SignerId | null;
let failure: Error;
let lost: LeaseLost[];
let writes: RecordedWrites;
let postponed: (readonly [string, string, number])[];
let log: RecordingLog;
let postpone: PostponeDue;

beforeEach(() => {
  [failure, lost] = [new Error('the database is away'), []];
  [held, broken, writes, postponed, log] = [[A, B], null, new RecordedWrites(), [], new RecordingLog()];
  writes.onWrite = ({ postponed: { timer, txs } = { timer: 'resubmit', txs: [] } }) => {
    if (txs.some(({ tx }) => broken && sameSigner(tx.signer, broken))) throw failure;
    postponed.push(...txs.map(({ tx, inMs }) => [timer, tx.id, inMs] as const));
  };
  postpone = new PostponeDue(
    {
      lost: (error: LeaseLost) => void lost.push(error),
      held: (signer: SignerId) => (held.includes(signer) ? { signer, owner: 'node', token: 7n } : null),
    } as unknown as LeaseManager,
    writes.asDoor(),
    log,
  );
});

it('txs are due again some seconds later, with jitter, and written under the leases of their signers', async () => {
  await postpone.execute('resubmit', TXS);
  expect(postponed.map(([timer, id]) => [timer, id])).toEqual(['a-1', 'a-2', 'b'].map((id) => ['resubmit', id]));
  for (const [, , inMs] of postponed) expect([inMs >= 3_750, inMs <= 5_000]).toEqual([true, true]);
  expect(new Set(postponed.map(([, , inMs]) => inMs)).size).toBe(3);
  expect(writes.written.map(({ operation, tokens }) => [operation, tokens])).toEqual(
    new Array(2).fill(['postpone', [7n]]),
  );
});

it('a signer that fails holds up no other', async () => {
  broken = A;
  await postpone.execute('receiptCheck', TXS);
  expect(postponed.map(([, id]) => id)).toEqual(['b']);
  expect(log.lines.map(({ event }) => event)).toEqual(['failed to postpone what is due']);
  held = [];
  await postpone.execute('receiptCheck', TXS);
  expect(postponed).toHaveLength(1);
});

it('a lost lease is handed in as such, and is no error', async () => {
  broken = A;
  failure = new LeaseLost([{ signer: A, owner: 'node', token: 7n }], 'postpone');
  await postpone.execute('resubmit', TXS);
  expect(postponed.map(([, id]) => id)).toEqual(['b']);
  expect([lost, log.lines]).toEqual([[failure], []]);
});
