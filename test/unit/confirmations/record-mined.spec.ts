import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { HeadTracker, Receipt } from '../../../src/modules/chain/index.js';
import { type MinedAttempt, RecordMined } from '../../../src/modules/confirmations/application/record-mined.js';
import type {
  Attempt,
  AttemptRepository,
  LaneMemory,
  LeasedWork,
  ManagedTx,
  TxMetrics,
} from '../../../src/modules/transactions/index.js';
import { aHash, aManagedTx, anAttempt, aReceipt, DEV_CHAIN } from '../../support/builders.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { ourWork, TxsInMemory } from './txs-in-memory.js';

const TX = 'tx-1';
const NONCE = 7n;
const TIP = 100;

let txs: TxsInMemory;
let log: RecordingLog;
/** The canonical hash at a height, as far as this node has followed the chain. */
let followed: Map<number, Hash>;
let tip: number | null;
let winners: Hash[];
let room: SignerId[];
let rung: SignerId[];
let entered: string[];

beforeEach(() => {
  txs = new TxsInMemory();
  txs.put(aManagedTx({ txId: TX }).allocated(NONCE).sent().build());
  log = new RecordingLog();
  followed = new Map();
  tip = TIP;
  [winners, room, rung, entered] = [[], [], [], []];
});

function record(mined: readonly MinedAttempt[], work: LeasedWork = ourWork): Promise<MinedAttempt[]> {
  return new RecordMined(
    { hashAt: (_: unknown, number: number) => followed.get(number) ?? null, tip: () => tip } as unknown as HeadTracker,
    work,
    new UnfencedWork(),
    txs.asRepository(),
    {
      decide: async (_: unknown, some: readonly Attempt[]) => void winners.push(...some.map(({ txHash }) => txHash)),
    } as unknown as AttemptRepository,
    { madeRoom: (signers: readonly SignerId[]) => room.push(...signers) } as unknown as LaneMemory,
    { ring: (signers: readonly SignerId[]) => void rung.push(...signers) },
    {
      entered: (some: readonly ManagedTx[]) => void entered.push(...some.map(({ state }) => state)),
    } as unknown as TxMetrics,
    log,
  ).execute(DEV_CHAIN, mined);
}

function aMined(attempt: Partial<Attempt> = {}, receipt: Partial<Receipt> = {}): MinedAttempt {
  const whole = anAttempt({ txId: TX, nonce: NONCE, ...attempt });
  return { signer: whole.signer, attempt: whole, receipt: aReceipt({ txHash: whole.txHash, ...receipt }) };
}

const said = (): string[] => log.lines.map(({ event }) => event);

describe('an attempt that was mined', () => {
  it('makes its tx MINED, wins its slot, and its lane goes on with the room there is', async () => {
    const mined = aMined({ txHash: aHash(2) });
    expect(await record([mined])).toEqual([]);
    expect(txs.of(TX)).toMatchObject({ state: 'MINED', txHash: aHash(2), receipt: mined.receipt, failureReason: null });
    const signers = [mined.signer];
    expect([winners, room, rung, entered]).toEqual([[aHash(2)], signers, signers, ['MINED']]);
  });

  it('and is no payload says why the payload was not executed', async () => {
    await record([aMined({ kind: 'fill' })]);
    expect(txs.of(TX)).toMatchObject({ state: 'MINED', failureReason: 'a no-op took its nonce' });
  });

  it('makes its tx MINED also when nobody wrote down that it was sent', async () => {
    txs.put(aManagedTx({ txId: TX }).allocated(NONCE).signed().build());
    await record([aMined()]);
    expect(txs.of(TX).state).toBe('MINED');
  });

  it('and was told before changes nothing', async () => {
    const mined = aMined();
    await record([mined]);
    await record([mined]);
    expect([txs.saved, rung.length, winners.length]).toEqual([[TX], 1, 1]);
  });

  it('and cannot be written now is told to the caller', async () => {
    const mined = aMined();
    const work = { run: async () => [mined] } as unknown as LeasedWork;
    expect(await record([mined], work)).toEqual([mined]);
  });
});

describe('the block that a receipt names', () => {
  const OURS = aHash(0xb10c);
  it.each([
    ['is the one that was followed', TIP, OURS, TIP, 'MINED'],
    ['is another than the one that was followed', TIP, aHash(0xdead), TIP, 'IN_MEMPOOL'],
    ['is below all that was followed', 1, null, TIP, 'MINED'],
    ['is not followed yet, and near', TIP + 256, null, TIP, 'MINED'],
    ['is far above all that was followed', TIP + 257, null, TIP, 'IN_MEMPOOL'],
    ['is the first that this node hears of', TIP + 257, null, null, 'MINED'],
  ])('%s', async (_words, blockNumber, canonical, newest, state) => {
    tip = newest;
    if (canonical) followed.set(blockNumber, canonical);
    expect(await record([aMined({}, { blockNumber, blockHash: OURS })])).toEqual([]);
    expect(txs.of(TX).state).toBe(state);
    const expected = state === 'MINED' ? [] : ['a receipt names a block that is not on the chain we follow'];
    expect(said()).toEqual(expected);
  });
});

describe('what cannot be, and was mined all the same, is reported and changes nothing', () => {
  it('a nonce that the tx had given up', async () => {
    await record([aMined({ nonce: NONCE - 1n })]);
    expect([txs.of(TX).state, txs.saved, rung]).toEqual(['IN_MEMPOOL', [], []]);
    expect(said()).toEqual(['a transaction was mined with a nonce that it had given up']);
  });

  it.each([
    ['that waits for a nonce', 'PENDING' as const],
    ['that ended as never sent', 'FAILED' as const],
  ])('a tx %s', async (_words, state) => {
    txs.put(aManagedTx({ txId: TX, state, nonce: NONCE }).build());
    await record([aMined()]);
    expect([txs.of(TX).state, txs.saved]).toEqual([state, []]);
    expect(said()).toEqual(['a transaction that every node had refused was mined']);
  });

  it('but not one that became final with its receipt', async () => {
    txs.put(aManagedTx({ txId: TX, state: 'CONFIRMED', nonce: NONCE, receipt: aReceipt() }).build());
    await record([aMined()]);
    expect([said(), txs.saved]).toEqual([[], []]);
  });
});
