import { beforeEach, describe, expect, it } from '@jest/globals';
import { parseHex } from '../../../src/kernel/hex.js';
import type { SentTransaction } from '../../../src/modules/chain/index.js';
import { AdoptSent } from '../../../src/modules/lost-commits/application/adopt-sent.js';
import { Findings } from '../../../src/modules/lost-commits/application/findings.js';
import type {
  LostCommitsRepository,
  SignerOutlook,
} from '../../../src/modules/ledger/domain/lost-commits.repository.js';
import { type ManagedTxRepository, NewFills, type RequestedTx } from '../../../src/modules/ledger/index.js';
import type { ManagedTx, TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { NO_PAYLOAD } from '../../../src/modules/ledger/domain/tx-request.js';
import { noOpPayload } from '../../../src/modules/ledger/domain/index.js';
import { NonceLedger } from '../../../src/modules/signers/index.js';
import { aHash, aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { aPermit } from '../../support/permit-builders.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const CURSOR = 10n;
/** Wei that no payload here sends. */
const FOREIGN = 99n;

/** Txs without a nonce, and txs in flight. */
let waiting: RequestedTx[];
let held: RequestedTx[];
/** Hashes that outside senders named. */
let named: Set<string>;
/** Of txs that moved. */
let rivals: ManagedTx[];
/** Whether a waiting tx was changed while it was looked for. */
let changed: boolean;
let reconciled: unknown[];
let permitsLost: unknown[];
/** Slots that are free from the start. */
let opened: bigint[];
let custody: KeysOf;
let metrics: FakeMetrics;
let writes: RecordedWrites;
let log: RecordingLog;
let adoptSent: AdoptSent;

beforeEach(() => {
  rivals = [];
  named = new Set();
  permitsLost = [];
  [opened, custody] = [[], new KeysOf([])];
  [waiting, held, changed, reconciled, metrics] = [[], [], false, [], new FakeMetrics()];
  [writes, log] = [new RecordedWrites(), new RecordingLog()];
  writes.canLock = (txId) => !changed && waiting.some(({ tx }) => tx.id === txId);
  let made = 0;
  adoptSent = new AdoptSent(
    writes.asDoor(),
    new NewFills({ next: () => `fill-${(made += 1)}` }),
    {
      holders: async () => held,
      withPayloadOf: async (_signer: unknown, _sent: unknown, most: number) => waiting.slice(0, most),
      named: async () => named,
      reconciled: async (_fence: unknown, ...args: unknown[]) => void reconciled.push(args),
      permitsLost: async (_fence: unknown, ids: readonly string[]) => void permitsLost.push(...ids),
    } as unknown as LostCommitsRepository,
    { rivals: async () => rivals } as unknown as ManagedTxRepository,
    custody,
    fakeOf(NonceLedger, { openFree: async (_fence, some) => void opened.push(...some.map(({ nonce }) => nonce)) }),
    metrics,
    log,
  );
});

function aTx(txId: string, nonce: bigint | null = null): RequestedTx {
  const tx = aManagedTx({ txId, nonce, state: nonce === null ? 'PENDING' : 'ALLOCATED' }).build();
  return { tx, request: aRequest() };
}

/** With the payload of every tx here, or with another. */
function aSent(nonce: bigint, value = aRequest().payload.value): SentTransaction {
  const { to, data, accessList } = aRequest().payload;
  const fees = { gasLimit: 50_000n, maxFeePerGas: 9n, maxPriorityFeePerGas: 3n };
  const sent = { account: SIGNER.address, nonce, hash: aHash(nonce), raw: parseHex('0x02'), to, data, accessList };
  return { ...sent, ...fees, value, type: 2 };
}

/** @param latest the chain's next nonce */
function adopt(
  sent: readonly SentTransaction[],
  overrides: Partial<SignerOutlook> = {},
  latest = CURSOR,
  anyway = false,
): Promise<boolean> {
  const known: SignerOutlook = {
    signer: SIGNER,
    cursor: CURSOR,
    open: [],
    inFlightFrom: 7n,
    known: true,
    suspect: false,
    epoch: 1,
  };
  const findings = new Findings({ ...known, ...overrides }, latest, sent, 0n, true, false);
  return adoptSent.execute(LEASE, findings, anyway).then((matches) => matches !== null);
}

const open = (nonce: bigint, txId: string | null): Partial<SignerOutlook> => ({ open: [{ nonce, txId }] });
const fillsMade = () => writes.fills.map(({ id, nonce }): [string, bigint] => [id, nonce]);

/** By nonce: the tx that holds the slot, or null for a fill. */
function slots(): [bigint, string | null][] {
  const isFill = new Set<string | null>(writes.fills.map(({ id }) => id));
  return writes.written
    .flatMap(({ changes }) => changes.slots?.adopted ?? [])
    .map(({ nonce, txId }): [bigint, string | null] => [nonce, isFill.has(txId) ? null : txId])
    .sort(([a], [b]) => Number(a - b));
}

describe('when more txs look like what is out than are read', () => {
  const accessList = [{ address: SIGNER.address, storageKeys: [] }];
  /** They differ in what the database does not compare. */
  const crowd = (count: number): RequestedTx[] =>
    Array.from({ length: count }, (_, n) => {
      const { tx, request } = aTx(`tx-${n}`);
      return { tx, request: { ...request, payload: { ...request.payload, accessList } } };
    });

  it('nothing is called foreign, unless an operator vouches', async () => {
    waiting = [...crowd(10_000), aTx('cut off')];
    for (const latest of [CURSOR, 11n]) expect(await adopt([aSent(10n)], {}, latest)).toBe(false);
    expect([writes.written, slots()]).toEqual([[], []]);
    expect(await adopt([aSent(10n)], {}, CURSOR, true)).toBe(true);
    expect(slots()).toEqual([[10n, null]]);
  });

  it('what none of them looks like is called foreign all the same, and what is among them is ours', async () => {
    waiting = [aTx('a'), ...crowd(10_000)];
    expect(await adopt([aSent(10n), aSent(11n, FOREIGN)])).toBe(true);
    expect(slots()).toEqual([
      [10n, 'a'],
      [11n, null],
    ]);
  });

  it('a nonce that an outside sender has is not called used by it, where a payload of ours may be out', async () => {
    const tx = aManagedTx({ txId: 'hold', kind: 'hold', nonce: 10n, state: 'ALLOCATED' }).build();
    held = [{ tx, request: aRequest() }];
    waiting = [...crowd(10_000), aTx('cut off')];
    expect(await adopt([aSent(10n)], { suspect: true })).toBe(false);
    expect(await adopt([aSent(10n)])).toBe(true);
  });
});

it('what was sent for a tx with a permit keeps the nonce of the permit, which nobody knows, from others', async () => {
  const { tx, request } = aTx('a');
  waiting = [{ tx, request: { ...request, payload: { ...request.payload, permits: [aPermit()] } } }, aTx('b')];
  expect(await adopt([aSent(10n), aSent(11n)])).toBe(true);
  expect([slots(), permitsLost]).toEqual([
    [
      [10n, 'a'],
      [11n, 'b'],
    ],
    ['a'],
  ]);
});

describe('a transaction that is out', () => {
  it('with the payload of a waiting tx gives it its nonce, its gas and its bytes', async () => {
    waiting = [aTx('a')];
    expect(await adopt([aSent(10n)])).toBe(true);
    expect(slots()).toEqual([[10n, 'a']]);
    expect(writes.inserted).toEqual([
      {
        signer: SIGNER,
        nonce: 10n,
        txHash: aHash(10n),
        raw: '0x02',
        kind: 'payload',
        txId: 'a',
        gasLimit: 50_000n,
        fees: { maxFeePerGas: 9n, maxPriorityFeePerGas: 3n },
        type: 2,
        pricedAtBlock: null,
        status: 'SIGNED',
        errorClass: null,
      },
    ]);
    expect(writes.txs).toMatchObject([{ id: 'a', state: 'ALLOCATED', nonce: 10n, progress: { gasLimit: 50_000n } }]);
    expect(writes.written).toMatchObject([{ operation: 'reconcile', tokens: [1n] }]);
    expect([writes.noted, writes.fills, reconciled, waiting[0]?.tx.state]).toEqual([[], [], [], 'PENDING']);
  });

  it('is counted and leaves an error in the log, with the tx that it is of', async () => {
    waiting = [aTx('a')];
    await adopt([aSent(10n), aSent(11n, FOREIGN)]);
    expect(metrics.counted('nonce_recovered_total')).toEqual({ payload: 1, foreign: 1 });
    expect(log.lines.map(({ fields: { nonce, txId, txHashes } }) => [nonce, txId, txHashes])).toEqual([
      [10n, 'a', [aHash(10n)]],
      [11n, null, [aHash(11n)]],
    ]);
  });

  it('of a tx that holds the slot already is its attempt, and changes nothing else of it', async () => {
    held = [aTx('a', 7n), aTx('b', 8n)];
    await adopt([aSent(7n)], open(7n, 'a'));
    expect(writes.inserted).toMatchObject([{ txId: 'a', nonce: 7n, kind: 'payload' }]);
    expect([slots(), writes.txs, writes.noted.map(({ id }) => id)]).toEqual([[], [], ['a']]);
  });

  it('of a fill that holds the slot already is its attempt, and is in its history', async () => {
    const { tx, request } = aTx('known-fill', 7n);
    held = [{ tx: aManagedTx({ ...tx.progress, kind: 'fill' }).build(), request }];
    await adopt([aSent(7n)], open(7n, 'known-fill'));
    expect(writes.inserted).toMatchObject([{ txId: 'known-fill', nonce: 7n, kind: 'fill' }]);
    expect(writes.noted.flatMap((fill) => fill.pendingEvents())).toMatchObject([
      { txId: 'known-fill', reason: 'nonce_recovered', txHash: aHash(7n) },
    ]);
    expect([slots(), writes.fills, writes.txs]).toEqual([[], [], []]);
  });

  it('of a hold is what its sender sent; of one that is closed a no-op is ours', async () => {
    const closing = { as: 'CANCELLED', reason: 'closed', won: false } as const;
    const noOp = { ...aSent(7n), ...noOpPayload(SIGNER.address, 2) };
    const kindOf = async (progress: Partial<TxProgress>, sent: SentTransaction, outlook = {}) => {
      const tx = aManagedTx({ txId: 'hold', kind: 'hold', state: 'IN_MEMPOOL', nonce: 7n, ...progress }).build();
      [held, writes.written.length] = [[{ tx, request: aRequest({ payload: NO_PAYLOAD }) }], 0];
      await adopt([sent], { ...open(7n, 'hold'), ...outlook });
      return [writes.inserted.map(({ kind }) => kind), writes.txs.map((each) => each.progress.subState)];
    };
    expect(await kindOf({}, noOp)).toEqual([['payload'], [null]]);
    expect(await kindOf({ closing, subState: 'CANCELLING' }, aSent(7n))).toEqual([['payload'], ['CANCELLING']]);
    expect(await kindOf({ closing, subState: 'CANCELLING' }, noOp)).toEqual([['cancel'], ['CANCELLING']]);
    // What the server before this one signed is not known, so a no-op is no use by the sender, unless it was named.
    const suspect = { suspect: true };
    expect(await kindOf({}, noOp, suspect)).toEqual([['cancel'], ['CANCELLING']]);
    expect(await kindOf({ state: 'ALLOCATED' }, noOp, suspect)).toEqual([['cancel'], ['CANCELLING']]);
    named.add(noOp.hash);
    expect(await kindOf({}, noOp, suspect)).toEqual([['payload'], [null]]);
  });

  it('of nobody here is the attempt of a fill, with the gas of the bytes', async () => {
    expect(await adopt([aSent(10n, FOREIGN)])).toBe(true);
    expect([slots(), fillsMade()]).toEqual([[[10n, null]], [['fill-1', 10n]]]);
    expect(writes.fills).toMatchObject([{ kind: 'fill', state: 'ALLOCATED', progress: { gasLimit: 50_000n } }]);
    expect(writes.inserted).toMatchObject([{ kind: 'fill', txId: 'fill-1', nonce: 10n, txHash: aHash(10n) }]);
    expect([writes.txs, writes.noted]).toEqual([[], []]);
  });

  it('of nobody here above nonces of nobody has fills below it; where outside senders have the key these are free for them', async () => {
    const blob = { ...aSent(14n, FOREIGN), type: 3, blobHashes: [aHash(3)], maxFeePerBlobGas: 5n } as const;
    await adopt([aSent(12n, FOREIGN)]);
    expect([fillsMade().map(([, nonce]) => nonce), opened]).toEqual([[12n, 10n, 11n], []]);
    [custody.external, writes.written.length] = [[SIGNER], 0];
    // The last one is not stored, so the cursor stays below it.
    await adopt([aSent(12n, FOREIGN), blob]);
    expect([fillsMade().map(([, nonce]) => nonce), opened]).toEqual([[12n], [10n, 11n]]);
  });

  it('of nobody here with blobs keeps its nonce without its bytes, which nobody could send again without the blobs', async () => {
    const withBlobs = { type: 3, blobHashes: [aHash(3)], maxFeePerBlobGas: 5n } as const;
    expect(await adopt([{ ...aSent(11n, FOREIGN), ...withBlobs }])).toBe(true);
    expect([slots(), writes.inserted]).toEqual([
      [
        [10n, null],
        [11n, null],
      ],
      [],
    ]);
    expect(metrics.counted('nonce_recovered_total')).toEqual({ foreign: 1 });
  });

  it('with the blobs of a waiting tx is its attempt', async () => {
    const item = aTx('a');
    waiting = [{ ...item, request: { ...item.request, payload: { ...item.request.payload, blobHashes: [aHash(3)] } } }];
    await adopt([{ ...aSent(10n), type: 3, blobHashes: [aHash(3)], maxFeePerBlobGas: 5n }]);
    expect(writes.inserted).toMatchObject([
      { txId: 'a', kind: 'payload', type: 3, fees: { maxFeePerGas: 9n, maxFeePerBlobGas: 5n } },
    ]);
  });

  it('of nobody here has a history that begins with the recovery of its bytes', async () => {
    await adopt([aSent(10n, FOREIGN)]);
    expect(writes.fills[0]?.pendingEvents()).toMatchObject([
      { reason: 'nonce_reserved' },
      { reason: 'nonce_recovered', txHash: aHash(10n) },
    ]);
  });

  it('of nobody here needs no slot once it is mined', async () => {
    await adopt([aSent(10n, FOREIGN)], {}, 11n);
    await adopt([aSent(11n, FOREIGN)], {}, 11n);
    expect(slots()).toEqual([[11n, null]]);
  });

  it('of nobody here competes with a tx that holds the slot: the tx is signed, as ever', async () => {
    held = [aTx('a', 10n)];
    expect(await adopt([aSent(10n, FOREIGN)], open(10n, 'a'))).toBe(true);
    expect(writes.written).toEqual([]);
  });

  it('of a signer that nobody acted for before was not sent for a tx of this database', async () => {
    waiting = [aTx('a')];
    await adopt([aSent(10n)], { known: false });
    expect(writes.inserted).toMatchObject([{ kind: 'fill', txId: 'fill-1' }]);
  });
});

describe('a transaction that is out at the nonce of a tx in flight', () => {
  /** Was sent with another price. */
  const sentBefore = (nonce: bigint, overrides: Partial<TxProgress> = {}): RequestedTx => {
    const { tx, request } = aTx('a', nonce);
    return { tx: aManagedTx({ ...tx.progress, state: 'IN_MEMPOOL', ...overrides }).build(), request };
  };
  const noOp = (nonce: bigint): SentTransaction => ({
    ...aSent(nonce, 0n),
    to: SIGNER.address,
    data: parseHex('0x'),
    hash: aHash(99),
  });

  it('with its payload is an attempt of it, whose receipt is looked for at once', async () => {
    held = [sentBefore(7n)];
    await adopt([aSent(7n)]);
    expect(writes.inserted).toMatchObject([{ txId: 'a', nonce: 7n, kind: 'payload' }]);
    expect(writes.txs).toMatchObject([{ id: 'a', state: 'IN_MEMPOOL', timers: { receiptCheck: { inMs: 0 } } }]);
    expect(slots()).toEqual([]);
  });

  it('as a no-op closes its slot, also beside a bump of the payload', async () => {
    held = [sentBefore(7n)];
    await adopt([aSent(7n), noOp(7n)]);
    expect(writes.inserted.map(({ kind }) => kind)).toEqual(['payload', 'cancel']);
    expect(writes.txs).toMatchObject([{ id: 'a', isClosing: true, progress: { closing: { as: 'CANCELLED' } } }]);
  });

  it('as a no-op changes nothing in why its slot is closed already', async () => {
    held = [sentBefore(7n, { closing: { as: 'FAILED', reason: 'refused', won: false } })];
    await adopt([noOp(7n)]);
    expect(writes.txs).toMatchObject([{ progress: { closing: { as: 'FAILED', reason: 'refused' } } }]);
  });

  it('with the payload of its replacement begins their race', async () => {
    const request = aRequest({ payload: { ...aRequest().payload, value: FOREIGN } });
    held = [sentBefore(7n)];
    waiting = [{ tx: aManagedTx({ txId: 'b', replaces: 'a', subState: 'REPLACING' }).build(), request }];
    await adopt([aSent(7n, FOREIGN)]);
    expect(writes.inserted).toMatchObject([{ txId: 'b', kind: 'payload' }]);
    expect(writes.txs).toMatchObject([
      { id: 'b', state: 'ALLOCATED', nonce: 7n },
      { id: 'a', isResting: true, progress: { replacedBy: 'b' } },
    ]);
    expect(writes.written[0]?.changes.slots).toMatchObject({ adopted: [], handedOver: [{ nonce: 7n, txId: 'b' }] });
  });

  it('with the payload of another tx shows that the ALLOCATED one had given its slot up, and ended', async () => {
    const request = aRequest({ payload: { ...aRequest().payload, value: FOREIGN } });
    held = [sentBefore(7n, { state: 'ALLOCATED' })];
    waiting = [{ tx: aTx('b').tx, request }];
    await adopt([aSent(7n, FOREIGN)], { suspect: true });
    // What has the nonce shows that nothing of it was sent.
    expect(reconciled).toEqual([[SIGNER, 1, ['a']]]);
    expect(writes.txs.map(({ id, state }) => [id, state])).toEqual([
      ['b', 'ALLOCATED'],
      ['a', 'CANCELLED'],
    ]);
  });

  it('with the payload of another tx changes nothing for one that may be out: the two compete', async () => {
    held = [sentBefore(7n)];
    waiting = [{ tx: aTx('b').tx, request: aRequest({ payload: { ...aRequest().payload, value: FOREIGN } }) }];
    await adopt([aSent(7n, FOREIGN)]);
    expect(writes.written).toEqual([]);
  });

  describe('of which nothing is out there, and whose payload is out with another nonce,', () => {
    const moved = (overrides: Partial<TxProgress>) => {
      held = [sentBefore(7n, overrides)];
      waiting = held;
      const known = {
        signer: SIGNER,
        cursor: CURSOR,
        open: [],
        inFlightFrom: 7n,
        known: true,
        suspect: false,
        epoch: 1,
      };
      return adoptSent.execute(LEASE, new Findings(known, CURSOR, [aSent(10n)], 0n, true, false, []));
    };
    const aRival = (overrides: Partial<TxProgress>) =>
      aManagedTx({
        txId: 'r',
        nonce: 7n,
        replaces: 'a',
        subState: 'REPLACING',
        failureReason: 'refused',
        ...overrides,
      });

    it('moves, and its withdrawn replacement ends', async () => {
      rivals = [aRival({ state: 'IN_MEMPOOL' }).build()];
      await moved({ withdrawnReplacement: 'r' });
      expect(writes.txs).toMatchObject([
        { id: 'a', state: 'ALLOCATED', nonce: 10n },
        { id: 'r', state: 'FAILED', progress: { failureReason: 'refused' } },
      ]);
    });

    it('does not move while its replacement is in a block', async () => {
      rivals = [aRival({ state: 'MINED' }).build()];
      await expect(moved({ withdrawnReplacement: 'r' })).rejects.toMatchObject({ code: 'illegal_transition' });
      expect(writes.written).toEqual([]);
    });
  });

  it('of nobody here changes nothing', async () => {
    held = [sentBefore(7n)];
    expect(await adopt([aSent(7n, FOREIGN)], {}, 8n)).toBe(true);
    expect(writes.written).toEqual([]);
  });

  it('where the nonce was used for good already changes nothing', async () => {
    waiting = [aTx('b')];
    await adopt([aSent(8n)], {}, 9n);
    expect(writes.written).toEqual([]);
  });
});

describe('what was out and is adopted', () => {
  beforeEach(() => {
    waiting = [aTx('waiting')];
  });

  it('has its slot, and each nonce below it that nobody has is a fill, from the cursor on', async () => {
    await adopt([aSent(12n), aSent(14n, FOREIGN)]);
    expect(slots()).toEqual([
      [10n, null],
      [11n, null],
      [12n, 'waiting'],
      [13n, null],
      [14n, null],
    ]);
    expect(writes.inserted.map(({ nonce, kind }) => [nonce, kind])).toEqual([
      [12n, 'payload'],
      [14n, 'fill'],
    ]);
  });

  it('has fills below it that have no attempt yet, and the gas of a plain transfer', async () => {
    await adopt([aSent(11n)]);
    expect([fillsMade(), writes.fills[0]?.progress]).toMatchObject([[['fill-1', 10n]], { gasLimit: 21_000n }]);
    expect(writes.inserted.map(({ txId }) => txId)).toEqual(['waiting']);
  });

  it('has fills below it from the next nonce of the chain on, when that is above the cursor', async () => {
    await adopt([aSent(13n)], {}, 12n);
    expect(slots()).toEqual([
      [12n, null],
      [13n, 'waiting'],
    ]);
  });

  it('is adopted however far the chain is above the cursor', async () => {
    await adopt([aSent(101n)], {}, 100n);
    expect(slots()).toEqual([
      [100n, null],
      [101n, 'waiting'],
    ]);
  });

  it('has a gap counted from the one below it, not from the cursor', async () => {
    await adopt([aSent(60n), aSent(120n, FOREIGN)]);
    expect(slots()).toHaveLength(111);
  });

  it.each([
    ['filled when it has 64 nonces', 74n, 65],
    ['left open when it is wider, and what is behind it is not adopted', 75n, 0],
  ])('has a gap below it that is %s', async (_words, nonce, count) => {
    await adopt([aSent(nonce)]);
    expect(slots()).toHaveLength(count);
  });
});

describe('nothing is written', () => {
  it('when a waiting tx was changed meanwhile', async () => {
    [waiting, changed] = [[aTx('a')], true];
    expect(await adopt([aSent(10n)], { suspect: true })).toBe(false);
    expect(writes.written.map(({ changes }) => changes)).toEqual([{}]);
    expect([reconciled, metrics.counted('nonce_recovered_total'), log.lines]).toEqual([[], {}, []]);
  });

  it('when nothing is out, and the database is in its epoch', async () => {
    expect([await adopt([]), writes.written]).toEqual([true, []]);
  });
});

it('a fill is made for bytes of nobody here although no waiting tx can be locked for them', async () => {
  changed = true;
  expect(await adopt([aSent(10n, FOREIGN)])).toBe(true);
  expect(fillsMade()).toEqual([['fill-1', 10n]]);
});

it('a signer is reconciled in the new epoch with what is written, also when nothing is out', async () => {
  await adopt([]);
  expect(reconciled).toEqual([]);
  await adopt([], { suspect: true });
  expect(reconciled).toEqual([[SIGNER, 1, []]]);
});
