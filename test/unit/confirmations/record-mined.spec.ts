import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import {
  type Block,
  type ChainConnector,
  Chains,
  HeadTracker,
  type Receipt,
  type ReceiptLookup,
} from '../../../src/modules/chain/index.js';
import {
  type MinedAttempt,
  RealBlocks,
  RecordMined,
} from '../../../src/modules/confirmations/application/record-mined.js';
import {
  type Attempt,
  AttemptRepository,
  LeasedWork,
  LostCommitsRepository,
  ManagedTx,
} from '../../../src/modules/ledger/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ExecutedAfterAll } from '../../../src/modules/lost-commits/application/executed-after-all.js';
import { aHash, aManagedTx, anAttempt, aReceipt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { TxsInMemory } from './txs-in-memory.js';
import { ourWork, workThatLeaves } from '../../support/fakes/our-work.js';

const TX = 'tx-1';
const NONCE = 7n;
const TIP = 100;
const IGNORED = 'receipt ignored: its block is not on the followed chain';

let txs: TxsInMemory;
let log: RecordingLog;
/** The canonical hash at a height, as far as this node has followed the chain. */
let followed: Map<number, Hash>;
let tip: number | null;
/** What the endpoints show. */
let shown: Map<number, Block>;
/** Of what had failed before. */
let agreed: ReceiptLookup;

beforeEach(() => {
  txs = new TxsInMemory();
  txs.put(aManagedTx({ txId: TX }).allocated(NONCE).sent().build());
  log = new RecordingLog();
  followed = new Map([[aReceipt().blockNumber, aReceipt().blockHash]]);
  shown = new Map();
  tip = TIP;
});

const CHAIN = {
  blocks: async (numbers) => numbers.map((number) => shown.get(number) ?? null),
  agreedReceipts: async (known) => known.map(() => agreed),
} as Partial<ChainConnector> as ChainConnector;
const aBlock = (number: number, hash: Hash): Block => ({
  ...{ number, hash, parentHash: hash, transactionHashes: [], listsAll: true },
  ...{ timestamp: null, baseFeePerGas: null, receiptsRoot: null },
});

function record(mined: readonly MinedAttempt[], work: LeasedWork = ourWork): Promise<MinedAttempt[]> {
  return recorder(work).execute(DEV_CHAIN, mined);
}

function recorder(work: LeasedWork = ourWork): RecordMined {
  const chains = fakeOf(Chains, { get: () => CHAIN });
  const [nothing, writes] = [fakeOf(AttemptRepository, {}), txs.writes.asDoor()];
  return new RecordMined(
    new RealBlocks(
      chains,
      fakeOf(HeadTracker, { hashAt: (_, number) => followed.get(number) ?? null, tip: () => tip }),
      log,
    ),
    work,
    txs.asRepository(),
    writes,
    new ExecutedAfterAll(chains, txs.asRepository(), nothing, fakeOf(LostCommitsRepository, {}), writes, log),
    log,
  );
}

function aMined(attempt: Partial<Attempt> = {}, receipt: Partial<Receipt> = {}): MinedAttempt {
  const whole = anAttempt({ txId: TX, nonce: NONCE, ...attempt });
  return { signer: whole.signer, attempt: whole, receipt: aReceipt({ txHash: whole.txHash, ...receipt }) };
}

/** The attempts that win their slots, in one commit with the txs. */
const winners = (): (Hash | null)[] =>
  txs.writes.written.flatMap(({ changes }) => (changes.attempts?.decided ?? []).map(({ txHash }) => txHash));
const said = (): string[] => log.lines.map(({ event }) => event);

describe('an attempt that was mined', () => {
  it('makes its tx MINED, and wins its slot in the same commit', async () => {
    const mined = aMined({ txHash: aHash(2) });
    expect(await record([mined])).toEqual([]);
    expect(txs.of(TX)).toMatchObject({ state: 'MINED', txHash: aHash(2), receipt: mined.receipt, failureReason: null });
    expect([winners(), txs.writes.operations]).toEqual([[aHash(2)], ['mined']]);
  });

  it('and is the no-op of a slot that is closed says why the payload was not executed', async () => {
    await record([aMined({ kind: 'cancel' })]);
    expect(txs.of(TX)).toMatchObject({
      state: 'MINED',
      failureReason: 'a no-op used its nonce',
      closing: { as: 'FAILED', won: true },
    });
  });

  it('and is a fill makes its fill MINED like any other tx: it has done what it is for', async () => {
    txs.put(ManagedTx.fill(TX, aSigner(), NONCE, 21_000n));
    await record([aMined({ kind: 'fill' })]);
    expect(txs.of(TX)).toMatchObject({ state: 'MINED', kind: 'fill', failureReason: null, closing: null });
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
    expect([txs.saved, winners().length]).toEqual([[TX], 1]);
  });

  it('and cannot be written now is told to the caller', async () => {
    const mined = aMined();
    expect(await record([mined], workThatLeaves(mined.signer))).toEqual([mined]);
  });

  it('is written with at most a thousand others at once: a block may have many more', async () => {
    const shares: number[] = [];
    const work = fakeOf(LeasedWork, { run: async (_chain, items) => (shares.push(items.length), items.slice(0, 1)) });
    const left = await record(new Array<MinedAttempt>(1_001).fill(aMined()), work);
    expect([shares, left.length]).toEqual([[1_000, 1], 2]);
  });
});

describe('a tx that failed in a final block, and may have left its nonce free', () => {
  const LATER = aReceipt().blockNumber + 1;
  const failedAs = (receipt: Partial<Receipt>): void => {
    const tx = aManagedTx({ txId: TX })
      .allocated(NONCE)
      .sent()
      .mined({ status: 'reverted', ...receipt })
      .build();
    tx.settled('execution reverted', null);
    txs.put(tx);
    followed.set(LATER, aHash(0xb10c));
    tip = LATER;
    agreed = { kind: 'found', receipt: again().receipt };
  };
  const again = (receipt: Partial<Receipt> = {}): MinedAttempt =>
    aMined({}, { blockNumber: LATER, blockHash: aHash(0xb10c), ...receipt });

  it('is MINED when a later block executes it: it gets its slot back, and only a no-op may be sent for it', async () => {
    failedAs({});
    await record([again()]);
    expect(txs.of(TX)).toMatchObject({ state: 'MINED', closing: { as: 'FAILED', won: false }, failureReason: null });
    expect(txs.writes.slots('reopened')).toEqual([{ signer: aSigner(), nonce: NONCE, holder: TX }]);
    expect(said()).toEqual(['transaction executed after it had failed and left its nonce free']);
  });

  it('is MINED when it was filled meanwhile, too: then the fill keeps the slot until the chain has decided', async () => {
    failedAs({});
    const tx = ManagedTx.rehydrate(txs.of(TX));
    tx.leftNonceFree('fill');
    txs.put(tx);
    txs.put(ManagedTx.fill('fill', aSigner(), NONCE, 21_000n, TX));
    await record([again()]);
    expect(txs.of(TX)).toMatchObject({ state: 'MINED', closing: null, replacedBy: 'fill' });
    expect(txs.writes.slots('reopened')).toEqual([]);
  });

  it('is MINED only when enough endpoints say so, which are asked again with the next block', async () => {
    failedAs({});
    const once = recorder();
    const enough = agreed;
    agreed = { kind: 'unavailable', message: 'the endpoints do not agree' };
    await once.execute(DEV_CHAIN, [again()]);
    expect(txs.of(TX).state).toBe('FAILED');
    agreed = enough;
    await once.execute(DEV_CHAIN, []);
    expect(txs.of(TX).state).toBe('MINED');
  });

  it('is MINED as one without a fill when its fill has ended', async () => {
    failedAs({});
    const tx = ManagedTx.rehydrate(txs.of(TX));
    tx.leftNonceFree('fill');
    txs.put(tx);
    txs.put(aManagedTx({ txId: 'fill', kind: 'fill', state: 'DROPPED', nonce: NONCE, replaces: TX }).build());
    await record([again()]);
    expect(txs.of(TX)).toMatchObject({ state: 'MINED', closing: { as: 'FAILED', won: false }, replacedBy: null });
    expect(txs.writes.slots('reopened')).toEqual([{ signer: aSigner(), nonce: NONCE, holder: TX }]);
  });

  it.each([
    ['first', (failed: MinedAttempt, executed: MinedAttempt) => [failed, executed]],
    ['last', (failed: MinedAttempt, executed: MinedAttempt) => [executed, failed]],
  ])('is MINED by the attempt that was executed, when that which failed is told %s', async (_when, inOrder) => {
    failedAs({});
    const failed = aMined({ txHash: aHash(3) }, { status: 'reverted' });
    await record(inOrder(failed, again()));
    expect(txs.of(TX)).toMatchObject({ state: 'MINED', receipt: again().receipt });
  });

  it('is not asked for again when 1,000 blocks are above it', async () => {
    failedAs({});
    const once = recorder();
    const enough = agreed;
    agreed = { kind: 'none' };
    await once.execute(DEV_CHAIN, [again()]);
    agreed = enough;
    tip = LATER + 1_001;
    await once.execute(DEV_CHAIN, []);
    expect(txs.of(TX).state).toBe('FAILED');
  });

  it.each([
    ['are sure that it is in no block', { kind: 'none' }],
    ['say that it failed', { kind: 'found', receipt: aReceipt({ blockHash: aHash(0xb10c), status: 'reverted' }) }],
    ['say that it is in another block', { kind: 'found', receipt: aReceipt({ blockHash: aHash(0xbad) }) }],
  ] as [string, ReceiptLookup][])(
    'stays as it is, and is asked for again with the next block, when the others %s: they may lag',
    async (_words, say) => {
      failedAs({});
      const once = recorder();
      agreed = say;
      await once.execute(DEV_CHAIN, [again()]);
      expect([txs.of(TX).state, txs.saved]).toEqual(['FAILED', []]);
      agreed = { kind: 'found', receipt: again().receipt };
      await once.execute(DEV_CHAIN, []);
      expect(txs.of(TX).state).toBe('MINED');
      await once.execute(DEV_CHAIN, []);
      expect(txs.saved).toEqual([TX]);
    },
  );

  it.each([
    ['it fails there again', {}, { status: 'reverted' }],
    ['that block is an earlier one', { blockNumber: LATER + 1 }, {}],
    ['it had succeeded before', { status: 'success' }, {}],
  ] as const)('stays as it is when %s', async (_words, before, receipt) => {
    failedAs(before);
    const { state } = txs.of(TX);
    await record([again(receipt)]);
    expect([txs.of(TX).state, txs.saved]).toEqual([state, []]);
  });
});

it('a tx that failed in a block that is not final is MINED by the later block that executes it', async () => {
  const failed = { status: 'reverted' } as const;
  txs.put(aManagedTx({ txId: TX }).allocated(NONCE).sent().mined(failed).build());
  const [blockNumber, blockHash] = [aReceipt().blockNumber + 1, aHash(0xb10c)];
  followed.set(blockNumber, blockHash);
  await record([aMined({}, { blockNumber, blockHash })]);
  expect(txs.of(TX)).toMatchObject({ state: 'MINED', receipt: { blockNumber, status: 'success' }, closing: null });
  expect(txs.writes.slots('reopened')).toEqual([]);
});

describe('the block that a receipt names', () => {
  const OURS = aHash(0xb10c);
  it.each([
    ['is the one that was followed', TIP, OURS, TIP, 'MINED'],
    ['is another than the one that was followed', TIP, aHash(0xdead), TIP, 'IN_MEMPOOL'],
    ['is not followed yet, although it is shown', TIP + 1, null, TIP, 'IN_MEMPOOL'],
  ])('%s', async (_words, blockNumber, canonical, newest, state) => {
    tip = newest;
    if (canonical) followed.set(blockNumber, canonical);
    shown.set(blockNumber, aBlock(blockNumber, OURS));
    expect(await record([aMined({}, { blockNumber, blockHash: OURS })])).toEqual([]);
    expect(txs.of(TX).state).toBe(state);
    expect(said()).toEqual(blockNumber === TIP && state === 'IN_MEMPOOL' ? [IGNORED] : []);
  });

  it.each([
    ['is below all that was followed', 1, TIP],
    ['is the first that this node hears of', TIP + 257, null],
  ])('%s is believed only when an endpoint shows it', async (_words, blockNumber, newest) => {
    tip = newest;
    for (const block of [null, aBlock(blockNumber, aHash(0xdead)), aBlock(blockNumber, OURS)]) {
      if (block) shown.set(blockNumber, block);
      await record([aMined({}, { blockNumber, blockHash: OURS })]);
    }
    expect(txs.of(TX).state).toBe('MINED');
    expect([txs.saved, said()]).toEqual([[TX], [IGNORED, IGNORED]]);
  });
});

describe('what cannot be, and was mined all the same, is reported and changes nothing', () => {
  it('a nonce that the tx had given up', async () => {
    await record([aMined({ nonce: NONCE - 1n })]);
    expect([txs.of(TX).state, txs.saved, winners()]).toEqual(['IN_MEMPOOL', [], []]);
    expect(said()).toEqual(['transaction mined with a nonce that it no longer has']);
  });

  it.each([
    ['that waits for a nonce', 'PENDING' as const],
    ['that ended as never sent', 'FAILED' as const],
  ])('a tx %s', async (_words, state) => {
    txs.put(aManagedTx({ txId: TX, state, nonce: NONCE }).build());
    await record([aMined()]);
    expect([txs.of(TX).state, txs.saved]).toEqual([state, []]);
    expect(said()).toEqual(['transaction mined that had ended']);
  });

  it('a tx that ended with the receipt of another transaction of its slot', async () => {
    const receipt = aReceipt({ txHash: aHash(99) });
    txs.put(aManagedTx({ txId: TX, state: 'FAILED', nonce: NONCE, receipt }).build());
    await record([aMined()]);
    expect([txs.of(TX).state, txs.saved]).toEqual(['FAILED', []]);
    expect(said()).toEqual(['transaction mined that had ended']);
  });

  it('but not one that became final with its receipt', async () => {
    txs.put(aManagedTx({ txId: TX, state: 'CONFIRMED', nonce: NONCE, receipt: aReceipt() }).build());
    await record([aMined()]);
    expect([said(), txs.saved]).toEqual([[], []]);
  });
});
