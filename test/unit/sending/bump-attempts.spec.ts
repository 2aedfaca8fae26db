import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AttemptDraft } from '../../../src/modules/sending/application/attempt-signer.js';
import { BroadcastAttempts } from '../../../src/modules/sending/application/broadcast-attempts.js';
import { BumpAttempts } from '../../../src/modules/sending/application/bump-attempts.js';
import { type PricedBump, PriceBumps } from '../../../src/modules/sending/application/price-bumps.js';
import type { Sending } from '../../../src/modules/sending/application/send.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ModelChain } from '../../support/model-chain.js';
import { aHash, aManagedTx, anAttempt, aSigner } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const LEASE = { signer: aSigner(), owner: 'node', token: 1n };
const CHAIN = new ModelChain();

let priced: PricedBump[];
let metrics: FakeMetrics;
let sent: Sending[];
/** What was stored before the send. */
let storedBefore: string[][];
let writes: RecordedWrites;
let log: RecordingLog;
let bump: BumpAttempts;

beforeEach(() => {
  [priced, metrics, sent, storedBefore] = [[], new FakeMetrics(), [], []];
  [writes, log] = [new RecordedWrites(), new RecordingLog()];
  bump = new BumpAttempts(
    fakeOf(PriceBumps, { execute: async () => priced }),
    {
      sign: async (drafts: readonly AttemptDraft[]) =>
        drafts.map((draft) => anAttempt({ ...draft, txHash: aHash(draft.nonce + 100n) })),
    },
    writes.asDoor(),
    fakeOf(BroadcastAttempts, {
      execute: async (_chain, _leases, sendings) => {
        storedBefore.push(writes.inserted.map(({ txHash }) => txHash));
        sent.push(...sendings);
        return [];
      },
    }),
    metrics,
    log,
  );
});

const aTx = (progress: Partial<TxProgress>) =>
  aManagedTx({ state: 'IN_MEMPOOL', txHash: aHash(1), nonce: 7n, tries: 3, ...progress }).build();

function toSign(txId: string, nonce = 7n, progress: Partial<TxProgress> = {}): PricedBump {
  const { signer, kind, gasLimit, fees, type } = anAttempt();
  const { to, value, data, accessList } = { to: null, value: 0n, data: anAttempt().raw, accessList: [] };
  const draft = { signer, nonce, kind, txId, to, value, data, accessList, gasLimit, fees, type, pricedAtBlock: 5 };
  return { tx: aTx({ txId, nonce, ...progress }), force: false, draft };
}

function not(
  result: 'capped' | 'above_market' | 'not_possible',
  progress: Partial<TxProgress> = {},
  force = false,
): PricedBump {
  return { tx: aTx({ txId: result, ...progress }), force, result };
}

const execute = (...bumps: readonly PricedBump[]) => {
  priced = [...bumps];
  return bump.execute(CHAIN, [LEASE], bumps);
};

it('what is to be in the same commit is written with new bytes, and not without', async () => {
  const written: number[] = [];
  const inSameCommit = async (_fence: unknown, ids: readonly string[]) => {
    expect(ids).toEqual(['tx']);
    written.push(writes.written.length);
  };
  const asked = { quote: await CHAIN.feeQuote(), inSameCommit };
  priced = [toSign('tx')];
  await bump.execute(CHAIN, [LEASE], priced, asked);
  priced = [not('capped')];
  await bump.execute(CHAIN, [LEASE], priced, asked);
  expect([written, writes.operations]).toEqual([[0], ['bump', 'bump']]);
});

describe('a price that was signed before', () => {
  const stored = anAttempt({ txHash: aHash(55), status: 'REJECTED' });
  const again = (): PricedBump => ({ tx: aTx({ txId: 'tx' }), force: false, stored });

  it('is sent again, and nothing is written nor counted', async () => {
    expect(await execute(again())).toEqual(new Map([['tx', 'bumped']]));
    expect(sent.map(({ attempt }) => attempt.txHash)).toEqual([aHash(55)]);
    expect([writes.written, metrics.counted('resubmit_total'), log.lines]).toEqual([[], {}, []]);
  });

  it('is enough for a client that asked for a bump: it may be out, and is due soon, in the commit of what is to be written with it', async () => {
    const written: [ids: readonly string[], before: number][] = [];
    const inSameCommit = async (_fence: unknown, ids: readonly string[]) =>
      void written.push([ids, writes.written.length]);
    priced = [again()];
    await bump.execute(CHAIN, [LEASE], priced, { quote: await CHAIN.feeQuote(), inSameCommit });
    expect([written, writes.inserted]).toEqual([[[['tx'], 0]], []]);
    expect(writes.written).toMatchObject([{ operation: 'bump', changes: { attempts: { resent: [stored] } } }]);
    const [tx] = writes.txs;
    expect([tx?.progress.txHash, tx?.timers.resubmit]).toEqual([aHash(55), { inMs: 5_000 }]);
    expect(tx?.pendingEvents()).toMatchObject([{ reason: 'gas_bumped', txHash: aHash(55) }]);
    expect(sent).toEqual([{ tx, attempt: stored }]);
  });
});

describe('a bump', () => {
  it('is committed before it is sent', async () => {
    await execute(toSign('tx'));
    expect([storedBefore, sent.map(({ attempt }) => attempt.txHash)]).toEqual([[[aHash(107)]], [aHash(107)]]);
    expect(writes.written).toMatchObject([{ operation: 'bump', tokens: [1n] }]);
  });

  it('is in the history of the tx, becomes its hash, and is due for another send soon', async () => {
    await execute(toSign('tx', 7n, { subState: 'FEE_CAPPED' }));
    const [tx] = writes.txs;
    expect(tx?.progress).toMatchObject({ state: 'IN_MEMPOOL', subState: 'STALE', txHash: aHash(107), tries: 0 });
    expect(tx?.pendingEvents()).toMatchObject([
      {
        reason: 'gas_bumped',
        txHash: aHash(107),
        detail: { maxFeePerGas: '2', maxPriorityFeePerGas: '1', gasLimit: '21000' },
      },
    ]);
    expect(tx?.timers).toEqual({ resubmit: { inMs: 5_000 }, receiptCheck: 'keep' });
  });

  it('of several goes with its own tx, and each answer, too', async () => {
    const results = await execute(toSign('a', 7n), not('not_possible'), toSign('b', 8n), not('above_market'));
    expect([...results].sort()).toEqual([
      ['a', 'bumped'],
      ['above_market', 'above_market'],
      ['b', 'bumped'],
      ['not_possible', 'not_possible'],
    ]);
    expect(sent.map(({ tx, attempt }) => [tx.id, attempt.txId, attempt.nonce])).toEqual([
      ['a', 'a', 7n],
      ['b', 'b', 8n],
    ]);
    expect(metrics.counted('resubmit_total')).toEqual({ bump: 2 });
  });

  it('leaves the tx that was given as it was', async () => {
    const wanted = toSign('tx');
    await execute(wanted);
    expect([wanted.tx.progress.txHash, wanted.tx.pendingEvents()]).toEqual([aHash(1), []]);
  });

  it('is not asked for where nothing is wanted', async () => {
    expect([await execute(), writes.written, metrics.values('resubmit_total')]).toEqual([new Map(), [], []]);
  });
});

describe('a price above the caps', () => {
  it('is what the tx says it waits for; metrics and log tell it once', async () => {
    expect(await execute(not('capped'))).toEqual(new Map([['capped', 'capped']]));
    const [tx] = writes.txs;
    expect(tx?.progress).toMatchObject({ state: 'IN_MEMPOOL', subState: 'FEE_CAPPED', txHash: aHash(1) });
    expect(tx?.timers.resubmit).toBe('keep');
    expect(log.lines).toMatchObject([{ event: 'bump not signed: its price is above the fee caps' }]);
    await execute(not('capped', { subState: 'FEE_CAPPED' }));
    expect([writes.txs.length, log.lines.length, metrics.values('tx_fee_capped_total')]).toEqual([1, 1, [1]]);
  });

  it('marks no tx that a client wanted to be faster, and none whose slot is being closed', async () => {
    const closing = { as: 'FAILED', reason: 'refused', won: false } as const;
    await execute(not('capped', {}, true), not('capped', { txId: 'closing', closing }));
    expect([writes.txs, metrics.values('tx_fee_capped_total')]).toEqual([[], []]);
  });

  it('leaves a tx alone that nodes refuse, so that its refusals go on being counted', async () => {
    const refused = { lastError: 'transaction underpriced', tries: 2 };
    await execute(
      not('capped', { subState: 'OUTCOME_UNKNOWN', ...refused }),
      not('above_market', { txId: 'other', subState: 'FEE_CAPPED', ...refused }),
    );
    expect(writes.txs).toEqual([]);
  });

  it('is over when the market has fallen below the price of the tx', async () => {
    const capped = { subState: 'FEE_CAPPED', lastError: 'a higher price would be above the fee caps' } as const;
    await execute(not('above_market', capped), not('above_market', { txId: 'other' }));
    expect(writes.txs.map(({ id, progress }) => [id, progress.subState])).toEqual([['above_market', 'STALE']]);
  });
});

it('what a pool may have dropped is sent again, and is no bump; a tx that waited for its price no longer does', async () => {
  const attempt = anAttempt({ txId: 'above_market' });
  const wanted = { ...not('above_market', { subState: 'FEE_CAPPED' }), again: attempt };
  expect(await execute(wanted)).toEqual(new Map([['above_market', 'above_market']]));
  expect(sent.map(({ tx, attempt: { txHash } }) => [tx.id, tx.progress.subState, txHash])).toEqual([
    ['above_market', 'STALE', attempt.txHash],
  ]);
  expect(metrics.counted('resubmit_total')).toEqual({ same_bytes: 1 });
});
