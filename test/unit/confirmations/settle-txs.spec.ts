import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Receipt } from '../../../src/modules/chain/index.js';
import { LateReserves } from '../../../src/modules/confirmations/application/late-reserves.js';
import { type Settlement, SettleTxs } from '../../../src/modules/confirmations/application/settle-txs.js';
import type { MinedVerdict } from '../../../src/modules/confirmations/domain/mined-verdict.js';
import type { ManagedTx } from '../../../src/modules/ledger/index.js';
import { aHash, aManagedTx, aReceipt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { TxsInMemory } from './txs-in-memory.js';
import { ourWork } from '../../support/fakes/our-work.js';

const HEAD = { number: 12, hash: aHash(0xead) };

let txs: TxsInMemory;
let log: RecordingLog;
let metrics: FakeMetrics;
let settle: SettleTxs;

const forks = () => metrics.counted('confirmations_newFork_total')[''] ?? 0;

beforeEach(() => {
  [txs, log, metrics] = [new TxsInMemory(), new RecordingLog(), new FakeMetrics()];
  settle = new SettleTxs(
    ourWork,
    txs.asRepository(),
    txs.writes.asDoor(),
    fakeOf(LateReserves, { make: async () => undefined }),
    metrics,
    log,
  );
});

/** A tx of nonce `n` that is mined in block 10 by the attempt with the hash `n`. */
function mined(n: number, receipt: Partial<Receipt> = {}): ManagedTx {
  const tx = aManagedTx({ txId: `tx-${n}` })
    .allocated(BigInt(n))
    .sent()
    .mined({ txHash: aHash(n), blockNumber: 10, ...receipt })
    .build();
  txs.put(tx);
  return tx;
}

const settled = (some: readonly ManagedTx[], verdict: MinedVerdict, more: Partial<Settlement> = {}): Promise<number> =>
  settle.execute(DEV_CHAIN, some, { head: HEAD, fresh: new Map(), verdictOf: () => verdict, ...more });
const written = () => txs.writes.written.map(({ changes: { slots, attempts } }) => ({ slots, attempts }));

describe('a MINED tx', () => {
  it('that is final is CONFIRMED, with its confirmations, and its attempt consumes the slot in the same commit', async () => {
    expect(await settled([mined(1)], 'final')).toBe(1);
    expect(txs.of('tx-1').state).toBe('CONFIRMED');
    expect(txs.events).toMatchObject([{ detail: { confirmations: { from: 11, to: 12, hash: HEAD.hash } } }]);
    const consumed = [{ signer: aSigner(), nonce: 1n, holder: 'tx-1', txHash: aHash(1) }];
    expect(written()).toEqual([{ slots: { consumed }, attempts: { reopened: [] } }]);
    expect([txs.writes.operations, forks()]).toEqual([['settle'], 0]);
  });

  it('that is final and reverted is FAILED, and says so', async () => {
    await settled([mined(1, { status: 'reverted' })], 'final');
    expect(txs.of('tx-1')).toMatchObject({ state: 'FAILED', failureReason: 'execution reverted' });
  });

  it('that is final before any block is on top of it is told without confirmations', async () => {
    await settled([mined(1)], 'final', { head: { number: 10, hash: aHash(1) } });
    expect(txs.events).toMatchObject([{ reason: 'confirmed', detail: { confirmations: null } }]);
  });

  it('whose block is gone is back in the mempool, and each attempt of its slot may be mined again', async () => {
    expect(await settled([mined(1)], 'gone')).toBe(1);
    expect(txs.of('tx-1')).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REORG_DETECTED', receipt: null });
    expect(written()).toMatchObject([{ slots: { consumed: [] }, attempts: { reopened: [{ nonce: 1n }] } }]);
    expect(forks()).toBe(1);
  });

  it('whose receipt has changed stays MINED with the newer one, and that is logged', async () => {
    const fresh = new Map([[aHash(1), aReceipt({ txHash: aHash(1), status: 'reverted' })]]);
    expect(await settled([mined(1)], 'changed', { fresh })).toBe(0);
    expect(txs.of('tx-1')).toMatchObject({ state: 'MINED', receipt: { status: 'reverted' } });
    expect(log.lines).toMatchObject([{ fields: { txId: 'tx-1', status: 'reverted' } }]);
    expect([written(), forks()]).toMatchObject([[{ slots: { consumed: [] }, attempts: { reopened: [] } }], 0]);
  });

  it('is final with the newer receipt when two answers agree on it', async () => {
    const fresh = new Map([[aHash(1), aReceipt({ txHash: aHash(1), status: 'success' })]]);
    const tx = mined(1, { status: 'reverted' });
    await settled([tx], 'changed', { fresh });
    await settled([tx], 'final');
    expect(txs.of('tx-1')).toMatchObject({ state: 'CONFIRMED', failureReason: null });
  });

  it('that cannot be decided now is left alone', async () => {
    expect([await settled([mined(1)], 'open'), txs.saved, forks()]).toEqual([0, [], 0]);
  });

  it.each(['final', 'gone'] as const)('that was moved meanwhile is left alone, although it was %s', async (verdict) => {
    const [back, ended] = [mined(1), mined(2)];
    txs.put(aManagedTx({ txId: 'tx-1' }).allocated(1n).sent().build());
    txs.put(aManagedTx({ ...txs.of('tx-2'), state: 'CONFIRMED' }).build());
    expect([await settled([back, ended], verdict), txs.saved, forks()]).toEqual([0, [], 0]);
  });

  it('is judged by the receipt that it has now', async () => {
    const before = mined(1);
    mined(1, { blockHash: aHash(0xdead) });
    const verdictOf = ({ blockHash }: Receipt): MinedVerdict => (blockHash === aHash(0xdead) ? 'open' : 'gone');
    expect([await settled([before], 'gone', { verdictOf }), txs.saved]).toEqual([0, []]);
  });

  it('has its own verdict beside others, in one commit, and only what is decided is counted', async () => {
    const verdicts: MinedVerdict[] = ['final', 'gone', 'changed', 'open'];
    const all = verdicts.map((_, n) => mined(n));
    const verdictOf = ({ txHash }: Receipt): MinedVerdict => verdicts[Number(txHash)] ?? 'open';
    const fresh = new Map([[aHash(2), aReceipt({ txHash: aHash(2), status: 'reverted' })]]);
    expect(await settled(all, 'open', { verdictOf, fresh })).toBe(2);
    expect(txs.states()).toEqual(['CONFIRMED', 'IN_MEMPOOL', 'MINED', 'MINED']);
    expect([txs.saved, txs.writes.operations]).toEqual([['tx-0', 'tx-1', 'tx-2'], ['settle']]);
  });
});
