import { beforeEach, describe, expect, it } from '@jest/globals';
import { NOTHING_ASKED } from '../../../src/modules/commands/application/ask-chain.js';
import { ReplaceSent } from '../../../src/modules/commands/application/replace-sent.js';
import {
  type PricedReplacement,
  PriceReplacement,
} from '../../../src/modules/commands/application/price-replacement.js';
import { type AttemptDraft, NotEncodable } from '../../../src/modules/sending/application/attempt-signer.js';
import type { Sending } from '../../../src/modules/sending/index.js';
import {
  type Attempt,
  AttemptRepository,
  ManagedTx,
  ManagedTxRepository,
  type RequestedTx,
} from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { ReplacementGate } from '../../../src/modules/commands/application/replacement-gate.js';
import { NO_POLICIES } from '../../support/fakes/no-policies.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aCommand, aHash, aManagedTx, anAttempt, aRequest, aSigner } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';

const SIGNER = aSigner();
const SLOT = { signer: SIGNER, nonce: 7n };
const LEASES = [{ signer: SIGNER, owner: 'node', token: 1n }];
const SAID = NOTHING_ASKED;
const COMMAND = aCommand({ kind: 'replace', replacement: 'replacement' });
const DONE = { commandId: 'command-1', refusal: null };
const PRICED: PricedReplacement = {
  kind: 'priced',
  fees: { maxFeePerGas: 9n, maxPriorityFeePerGas: 3n },
  type: 2,
  gasLimit: 50_000n,
  pricedAtBlock: 12,
};

let rows: Map<string, TxProgress>;
/** Ids of the txs with blobs. */
let withBlobs: Set<string>;
let expired: Set<string>;
/** Its signer is paused. */
/** Why the policy never allows it, found under the fence. */
let never: string | null;
let paused: boolean;
let policyRefusal: string | null;
let ofSlot: Attempt[];
let priced: PricedReplacement;
let bids: unknown[][];
let drafts: AttemptDraft[];
/** What the custody does with a draft. */
let sign: (draft: AttemptDraft) => Attempt[];
let writes: RecordedWrites;
let sent: Sending[];
/** In which order things happened. */
let steps: string[];
let replace: ReplaceSent;

const isTx = (overrides: Partial<TxProgress>): void => {
  const whole = { txId: 'tx', signer: SIGNER, nonce: 7n, state: 'IN_MEMPOOL', ...overrides } as const;
  rows.set(whole.txId, aManagedTx(whole).build().progress);
};
const requested = (row: TxProgress): RequestedTx => {
  const base = aRequest();
  const payload = withBlobs.has(row.txId) ? { ...base.payload, blobHashes: [aHash(3)] } : base.payload;
  return { tx: ManagedTx.rehydrate(row), request: { ...base, payload } };
};

beforeEach(() => {
  [rows, bids, drafts, writes, sent, steps] = [new Map(), [], [], new RecordedWrites(), [], []];
  [withBlobs, expired] = [new Set(), new Set()];
  [paused, policyRefusal, never] = [false, null, null];
  isTx({});
  isTx({ txId: 'replacement', state: 'PENDING', nonce: null, subState: 'REPLACING', replaces: 'tx' });
  ofSlot = [anAttempt({ ...SLOT, txId: 'tx', status: 'ACCEPTED' })];
  priced = PRICED;
  sign = (draft) => [anAttempt({ ...SLOT, txId: draft.txId, txHash: aHash(2), fees: draft.fees })];
  writes.onWrite = ({ txs = [] }, operation) => {
    steps.push(operation);
    for (const { progress } of txs) rows.set(progress.txId, { ...progress });
  };
  replace = new ReplaceSent(
    fakeOf(ManagedTxRepository, {
      requested: async (ids) => [...rows.values()].filter(({ txId }) => ids.includes(txId)).map(requested),
    }),
    fakeOf(AttemptRepository, { ofSlots: async () => ofSlot }),
    fakeOf(PriceReplacement, { execute: (...args) => (bids.push(args), priced) }),
    {
      sign: async ([draft]: readonly AttemptDraft[]) => (draft ? (drafts.push(draft), sign(draft)) : []),
    },
    writes.asDoor(),
    fakeOf(ReplacementGate, {
      present: NO_POLICIES.present,
      refusal: async ({ tx }) => (expired.has(tx.id) ? 'the replacement expired' : null),
      policyRefusal: () => policyRefusal,
      admit: async () =>
        never === null ? { kind: paused ? 'later' : 'admitted' } : { kind: 'refused', reason: never },
    }),
  );
});

const replaced = async (command = COMMAND) => {
  const { decision, sending } = await replace.execute(LEASES, command, SAID);
  if (sending) sent.push(sending);
  return decision;
};
const states = (): (string | undefined)[] => ['tx', 'replacement'].map((id) => rows.get(id)?.state);
const replacement = (): TxProgress | undefined => rows.get('replacement');

describe('a replacement of what may be out', () => {
  it('gets the slot and its bytes in one commit, and is handed back to be sent after it', async () => {
    expect(await replaced()).toEqual(DONE);
    expect(writes.written).toMatchObject([
      {
        operation: 'replace',
        tokens: [1n],
        changes: {
          slots: { handedOver: [{ ...SLOT, txId: 'replacement' }] },
          attempts: { inserted: [{ txHash: aHash(2) }] },
          txs: [
            { id: 'tx', progress: { state: 'IN_MEMPOOL', subState: 'REPLACING', replacedBy: 'replacement' } },
            { id: 'replacement', progress: { state: 'ALLOCATED', nonce: 7n, gasLimit: 50_000n, txHash: aHash(2) } },
          ],
        },
      },
    ]);
    expect(sent).toMatchObject([{ tx: { id: 'replacement' }, attempt: { txHash: aHash(2) } }]);
    expect(steps).toEqual(['replace']);
  });

  it('is signed with the nonce of the original, and priced against all of its slot', async () => {
    await replaced();
    expect(bids).toMatchObject([[{ tx: { id: 'replacement' } }, ofSlot, SAID]]);
    const expected = { txId: 'replacement', kind: 'payload', nonce: 7n, gasLimit: 50_000n, pricedAtBlock: 12 };
    expect(drafts).toMatchObject([{ ...expected, fees: { maxFeePerGas: 9n, maxPriorityFeePerGas: 3n } }]);
  });

  it('is in the history of the original with its hash', async () => {
    await replaced();
    const [original] = writes.txs;
    const raced = original?.pendingEvents().find(({ reason }) => reason === 'competitive_sent');
    expect(raced).toMatchObject({ txHash: aHash(2), detail: { replacedBy: 'replacement' } });
  });

  it('has blobs like the original', async () => {
    withBlobs = new Set(['tx', 'replacement']);
    priced = { ...PRICED, type: 3 };
    expect(await replaced()).toEqual(DONE);
    expect(drafts).toMatchObject([{ type: 3, blobHashes: [aHash(3)] }]);
  });

  it('is due at once, because its first send may be interrupted and nobody else would send it', async () => {
    await replaced();
    const [, tx] = writes.txs;
    expect(tx?.timers.resubmit).toEqual({ inMs: 0 });
  });

  it('ends with the reason when the fence finds that its policy never allows it, and its original goes on', async () => {
    never = 'policy_refused: dailyFees: dailyFees is 1 wei, and it needs 2';
    expect(await replaced()).toEqual({ ...DONE, refusal: never });
    expect(states()).toEqual(['IN_MEMPOOL', 'DROPPED']);
    expect(sent).toEqual([]);
  });

  it('waits while its signer is paused, whatever was read before', async () => {
    paused = true;
    expect(await replaced()).toBeNull();
    expect([writes.written[0]?.changes, sent]).toEqual([{}, []]);
  });

  it.each<Attempt['status']>(['SIGNED', 'ACCEPTED', 'UNKNOWN'])(
    'races also when nobody wrote down that the original was sent: %s',
    async (status) => {
      isTx({ state: 'ALLOCATED' });
      ofSlot = [anAttempt({ ...SLOT, txId: 'tx', status })];
      expect(await replaced()).toEqual(DONE);
      expect(states()).toEqual(['IN_MEMPOOL', 'ALLOCATED']);
      expect(writes.released).toEqual([]);
    },
  );

  it('is carried out once, although it is asked for twice', async () => {
    await replaced();
    expect(await replaced()).toEqual(DONE);
    expect([writes.written.length, sent.length]).toEqual([1, 1]);
  });

  it.each<[string, () => void]>([
    ['cannot be priced now', () => (priced = { kind: 'later' })],
    ['cannot be signed now', () => (sign = () => [])],
  ])('that %s is tried again, and nothing changes', async (_what, cannot) => {
    cannot();
    expect(await replaced()).toBeNull();
    expect([writes.written, sent]).toEqual([[], []]);
  });
});

describe('a replacement that is not possible is DROPPED with the reason, and the original goes on', () => {
  it.each<[string, () => void, string]>([
    ['because of its price', () => (priced = { kind: 'refused', reason: 'above the caps' }), 'above the caps'],
    ['because it expired', () => expired.add('replacement'), 'the replacement expired'],
    [
      'because it expired, and the original waits without a nonce',
      () => {
        expired.add('replacement');
        isTx({ state: 'PENDING', nonce: null });
      },
      'the replacement expired',
    ],
    ['because the original was mined', () => isTx({ state: 'MINED' }), 'the transaction is in a block'],
    [
      'because the original is being cancelled',
      () => isTx({ closing: { as: 'CANCELLED', reason: 'no', won: false } }),
      'a no-op competes for its nonce',
    ],
    [
      'because it has blobs, and the original has none',
      () => withBlobs.add('replacement'),
      'a transaction with blobs cannot replace one without, nor the reverse',
    ],
    [
      'because the original has blobs, and it has none',
      () => withBlobs.add('tx'),
      'a transaction with blobs cannot replace one without, nor the reverse',
    ],
    [
      'because it can never be encoded',
      () =>
        (sign = () => {
          throw new NotEncodable(new Error('value too high'));
        }),
      'value too high',
    ],
  ])('%s', async (_why, change, reason) => {
    change();
    const before = { ...rows.get('tx') };
    expect(await replaced()).toEqual({ commandId: 'command-1', refusal: reason });
    expect(replacement()).toMatchObject({ state: 'DROPPED', nonce: null, failureReason: `not replaced: ${reason}` });
    expect([rows.get('tx'), sent, writes.slots('handedOver')]).toEqual([before, [], []]);
  });

  it('but another error of the custody is not its fault', async () => {
    sign = () => {
      throw new Error('no key today');
    };
    await expect(replaced()).rejects.toThrow('no key today');
    expect(writes.written).toEqual([]);
  });
});

describe('a replacement of what was never sent', () => {
  it.each<[string, Partial<TxProgress>, () => Attempt[], object[]]>([
    ['that waits for a nonce', { state: 'PENDING', nonce: null }, () => [], []],
    ['that was not signed', { state: 'ALLOCATED' }, () => [], [SLOT]],
    ['that never left a node', { state: 'ALLOCATED' }, () => [anAttempt({ ...SLOT, status: 'UNSENT' })], [SLOT]],
  ])('takes its place: %s', async (_what, original, attempts, released) => {
    isTx(original);
    ofSlot = attempts();
    expect(await replaced()).toEqual(DONE);
    expect(rows.get('tx')).toMatchObject({ state: 'REPLACED', replacedBy: 'replacement' });
    expect(replacement()).toMatchObject({ state: 'PENDING', subState: null, nonce: null });
    expect(writes.txs.at(-1)?.timers.resubmit).toEqual({ inMs: 0 });
    expect([writes.released, bids, sent]).toEqual([released, [], []]);
  });

  it('takes its place also with blobs, because no pool has anything of it', async () => {
    withBlobs.add('replacement');
    isTx({ state: 'ALLOCATED' });
    ofSlot = [];
    expect(await replaced()).toEqual(DONE);
    expect(states()).toEqual(['REPLACED', 'PENDING']);
  });

  it('keeps its place when it is asked for twice, as after a crash', async () => {
    isTx({ state: 'PENDING', nonce: null });
    await replaced();
    expect(await replaced()).toEqual(DONE);
    expect(states()).toEqual(['REPLACED', 'PENDING']);
    expect(writes.written).toHaveLength(1);
  });
});

describe('nothing is replaced', () => {
  it('by a replacement that was cancelled meanwhile', async () => {
    isTx({ txId: 'replacement', state: 'CANCELLED', nonce: null });
    expect(await replaced()).toEqual({ commandId: 'command-1', refusal: 'the replacement is CANCELLED' });
    expect(writes.written).toEqual([]);
  });

  it.each<[string, () => void, string | null]>([
    ['without its original', () => void rows.delete('tx'), 'replacement'],
    ['without the replacement', () => void rows.delete('replacement'), 'replacement'],
    ['by nothing', () => undefined, null],
  ])('%s', async (_what, change, id) => {
    change();
    const decision = await replaced(aCommand({ kind: 'replace', replacement: id }));
    expect([decision, writes.written]).toEqual([{ commandId: 'command-1', refusal: 'no such transaction' }, []]);
  });
});
