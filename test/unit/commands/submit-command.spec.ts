import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Tx } from '../../../src/kernel/unit-of-work.js';
import { type CommandInput, SubmitCommand } from '../../../src/modules/commands/application/submit-command.js';
import type { CommandStore, TxCommand } from '../../../src/modules/commands/domain/tx-command.js';
import type { TxEvent } from '../../../src/modules/events/index.js';
import { SignerInDoubt } from '../../../src/modules/lost-commits/index.js';
import type { CommandedTxs, ManagedTx, TxRequest } from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { FakeDoubt } from '../../support/fakes/fake-doubt.js';
import { aCommand, aHash, aManagedTx, aRequest, aSigner } from '../../support/builders.js';

const SIGNER = aSigner();
const NEW_REQUEST = aRequest({ requestId: 'new-payload' });
const WITH_BLOBS = { ...NEW_REQUEST, payload: { ...NEW_REQUEST.payload, blobHashes: [aHash(3)] } };

/** The tx that is locked; null for an unknown id. */
let managed: ManagedTx | null;
let known: TxCommand | null;
/** Of each kind, whether a command waits; and what was said before, as a client would say it again. */
let queuedKinds: string[];
let saidBefore: TxCommand | null;
let hasBlobs: boolean;
/** Whether a tx of the signer has the requestId of the replacement. */
let isKeyTaken: boolean;
/** What was written in the one transaction, in order. */
let written: unknown[][];
let events: TxEvent[];
let rung: SignerId[];
let doubt: FakeDoubt;
let submit: SubmitCommand;

beforeEach(() => {
  [managed, known, queuedKinds, written, events, rung] = [null, null, [], [], [], []];
  [hasBlobs, isKeyTaken, saidBefore] = [false, false, null];
  doubt = new FakeDoubt();
  let ids = 0;
  const store = {
    lock: async () => managed,
    find: async (signer: SignerId, requestId: string) =>
      known && signer === SIGNER && known.requestId === requestId ? known : null,
    hasQueued: async (_txId: string, kind: string) => queuedKinds.includes(kind),
    same: async (_tx: Tx, { kind, requestHash }: TxCommand, statuses: readonly string[]) =>
      saidBefore?.kind === kind && statuses.includes(saidBefore.status) && saidBefore.requestHash === requestHash
        ? saidBefore
        : null,
    outdateCopies: async () => void written.push(['outdated']),
    hasLastedLongest: async () => false,
    hasBlobs: async () => hasBlobs,
    insert: async (_tx: Tx, command: TxCommand) => void written.push(['command', command]),
    savePending: async (_tx: Tx, tx: ManagedTx, request: TxRequest | null) => {
      written.push(['pending', tx.state, request]);
      events.push(...tx.pendingEvents());
    },
    insertReplacement: async (_tx: Tx, ...args: unknown[]) => {
      written.push(['replacement', ...args]);
      return !isKeyTaken;
    },
  } as unknown as CommandStore & CommandedTxs;
  submit = new SubmitCommand(
    { run: async (work) => work({ open: true }) },
    store,
    store,
    { next: () => `id-${(ids += 1)}` },
    { ring: (signers) => void rung.push(...signers) },
    doubt.asPort(),
  );
});

const INPUTS = {
  cancel: { kind: 'cancel', request: null },
  speed_up: { kind: 'speed_up', request: null },
  replace: { kind: 'replace', request: NEW_REQUEST },
} as const;

function submitted(kind: keyof typeof INPUTS, overrides: Partial<CommandInput> = {}) {
  return submit.execute({
    txId: 'tx',
    sender: ANYONE,
    requestId: 'key',
    requestHash: aHash(0xc0),
    fees: null,
    ...INPUTS[kind],
    ...overrides,
  });
}

function theTxIs(progress: Partial<TxProgress>): void {
  const nonce = progress.state === 'PENDING' ? null : 7n;
  managed = aManagedTx({ txId: 'tx', signer: SIGNER, nonce, ...progress }).build();
}

const writtenKinds = (): unknown[] => written.map(([what]) => what);

describe('a command about a tx that waits without a nonce', () => {
  beforeEach(() => theTxIs({ state: 'PENDING' }));

  it('to cancel it is done at once, in the same commit', async () => {
    expect(await submitted('cancel')).toMatchObject({ isNew: true, command: { status: 'DONE', replacement: null } });
    expect(written).toMatchObject([
      ['pending', 'CANCELLED', null],
      ['command', { commandId: 'id-1', txId: 'tx', kind: 'cancel', requestId: 'key', status: 'DONE' }],
    ]);
    expect(events).toMatchObject([{ reason: 'cancelled' }]);
  });

  it('to replace it gives the same tx the new request', async () => {
    expect(await submitted('replace')).toMatchObject({ command: { status: 'DONE', replacement: 'tx' } });
    expect(written).toMatchObject([
      ['pending', 'PENDING', NEW_REQUEST],
      ['command', { kind: 'replace', replacement: 'tx' }],
    ]);
    expect(events).toMatchObject([{ reason: 'updated', detail: { requestId: 'key' } }]);
  });

  it('to speed it up is refused, and nothing is stored', async () => {
    await expect(submitted('speed_up')).rejects.toMatchObject({ code: 'not_sent_yet', facts: { state: 'PENDING' } });
    expect([written, events, rung]).toEqual([[], [], []]);
  });
});

describe('a command about a tx in flight', () => {
  beforeEach(() => theTxIs({ state: 'IN_MEMPOOL' }));

  it.each(['cancel', 'speed_up'] as const)('to %s waits for the owner, and the tx does not change', async (kind) => {
    expect(await submitted(kind)).toMatchObject({ command: { status: 'QUEUED', replacement: null, signer: SIGNER } });
    expect([writtenKinds(), events]).toEqual([['command'], []]);
  });

  it('to replace it stores the replacement as a tx of its own', async () => {
    const { command } = await submitted('replace');
    expect(command).toMatchObject({ commandId: 'id-1', status: 'QUEUED', replacement: 'id-2' });
    expect(written).toEqual([
      ['replacement', 'id-2', NEW_REQUEST, 'tx'],
      ['command', command],
    ]);
  });

  it('to replace it is refused, and nothing is stored, when another tx has the requestId of the new one', async () => {
    isKeyTaken = true;
    await expect(submitted('replace')).rejects.toMatchObject({
      code: 'idempotency_conflict',
      facts: { requestId: 'new-payload' },
    });
    expect([writtenKinds(), rung]).toEqual([['replacement'], []]);
  });

  it.each<[boolean, boolean]>([
    [false, true],
    [true, false],
  ])('to replace it by another kind is refused, and nothing is stored: blobs %j by %j', async (original, blobs) => {
    hasBlobs = original;
    const request = blobs ? WITH_BLOBS : NEW_REQUEST;
    const refused = { code: 'other_kind', facts: { txId: 'tx', state: 'IN_MEMPOOL' } };
    await expect(submitted('replace', { request })).rejects.toMatchObject(refused);
    expect([written, rung]).toEqual([[], []]);
  });

  it('to replace it by its own kind is stored, and of another kind while it may be unsent', async () => {
    hasBlobs = true;
    expect(await submitted('replace', { request: WITH_BLOBS })).toMatchObject({ command: { status: 'QUEUED' } });
    theTxIs({ state: 'ALLOCATED' });
    expect(await submitted('replace')).toMatchObject({ command: { status: 'QUEUED' } });
  });

  it('to replace it is refused while another replace waits, and a cancel is not', async () => {
    queuedKinds = ['replace'];
    await expect(submitted('replace')).rejects.toMatchObject({ code: 'being_replaced', facts: { txId: 'tx' } });
    expect(written).toEqual([]);
    expect(await submitted('cancel')).toMatchObject({ command: { status: 'QUEUED' } });
    // It lost its nonce meanwhile: the older replace would win, being carried out later.
    theTxIs({ state: 'PENDING' });
    await expect(submitted('replace')).rejects.toMatchObject({ code: 'being_replaced' });
  });

  it('to cancel it once more is done already', async () => {
    theTxIs({ state: 'IN_MEMPOOL', closing: { as: 'CANCELLED', reason: 'no', won: false } });
    expect(await submitted('cancel')).toMatchObject({ command: { status: 'DONE' } });
    expect([writtenKinds(), managed?.isClosing]).toEqual([['command'], true]);
  });

  it('keeps the fees that were asked for', async () => {
    const fees = { ...aRequest().fees, maxFeePerGas: 9n };
    expect((await submitted('speed_up', { fees })).command.fees).toEqual(fees);
  });

  it('wakes whoever acts for its signer', async () => {
    await submitted('cancel');
    expect(rung).toEqual([SIGNER]);
  });

  it('without a key has its id as the key', async () => {
    expect(await submitted('cancel', { requestId: null })).toMatchObject({
      command: { commandId: 'id-1', requestId: 'id-1' },
    });
  });
});

describe('a command with a known key', () => {
  beforeEach(() => {
    theTxIs({ state: 'MINED' });
    known = aCommand({ requestId: 'key', requestHash: aHash(0xc0), txId: 'tx', kind: 'cancel' });
  });

  it('is the stored one, whatever became of the tx since, and wakes nobody', async () => {
    expect(await submitted('cancel')).toEqual({ command: known, isNew: false });
    expect([written, rung]).toEqual([[], []]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['body', () => submitted('cancel', { requestHash: aHash(0xc1) })],
    ['kind', () => submitted('speed_up')],
  ])('and another %s is refused', async (_what, again) => {
    await expect(again()).rejects.toMatchObject({ code: 'idempotency_conflict', facts: { txId: 'tx' } });
  });

  it('and another tx is refused', async () => {
    known = aCommand({ requestId: 'key', txId: 'other' });
    await expect(submitted('cancel')).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });
});

it.each(['MINED', 'CONFIRMED'] as const)(
  'a command about a tx that is %s is refused, and nothing is stored',
  async (state) => {
    theTxIs({ state });
    const code = state === 'MINED' ? 'already_mined' : 'already_final';
    await expect(submitted('replace')).rejects.toMatchObject({ code, facts: { txId: 'tx', state } });
    expect([written, rung]).toEqual([[], []]);
  },
);

it('a command about an unknown tx is not found', async () => {
  await expect(submitted('cancel')).rejects.toMatchObject({ code: 'tx_not_found' });
});

describe('a waiting tx of a signer that may have sent what the database lost', () => {
  it.each(['cancel', 'replace'] as const)(
    'has no %s before the signer is reconciled, and its owner is told',
    async (kind) => {
      theTxIs({ state: 'PENDING' });
      doubt.signers.add(signerKey(SIGNER));
      await expect(submitted(kind)).rejects.toThrow(SignerInDoubt);
      expect([written, events, rung]).toEqual([[], [], [SIGNER]]);
      doubt.signers.clear();
      expect((await submitted(kind)).isNew).toBe(true);
    },
  );

  it('is looked at again when the connection is one to a server that nobody looked at', async () => {
    theTxIs({ state: 'PENDING' });
    doubt.reconnects = 2;
    expect((await submitted('cancel')).isNew).toBe(true);
    expect(doubt.looks).toBe(3);
    expect(writtenKinds()).toEqual(['pending', 'command']);
  });

  it('is no concern of a tx with a nonce, which its owner cancels', async () => {
    theTxIs({ state: 'IN_MEMPOOL' });
    doubt.signers.add(signerKey(SIGNER));
    expect((await submitted('cancel')).command.status).toBe('QUEUED');
  });
});

describe('what is said of a hold', () => {
  const consume = (requestHash = aHash(0xc0)) =>
    submitted('cancel', { kind: 'consume', txHash: aHash(7), requestId: null, requestHash });

  it('again, while it waits for the owner, is the same command; something else is to be said later', async () => {
    theTxIs({ kind: 'hold', state: 'ALLOCATED' });
    saidBefore = aCommand({ kind: 'consume', requestHash: aHash(0xc0) });
    queuedKinds = ['consume'];
    expect(await consume()).toEqual({ command: saidBefore, isNew: false });
    await expect(consume(aHash(0xc1))).rejects.toMatchObject({ code: 'command_waits', retryable: true });
    expect([written, rung]).toEqual([[], []]);
    // A word of another kind does not wait for it.
    expect(await submitted('cancel', { kind: 'extend', ttl: 60 })).toMatchObject({ isNew: true });
    expect(writtenKinds()).toEqual(['outdated', 'command']);
  });

  it('again, when it is done, is the same command, and nothing more is stored', async () => {
    theTxIs({ kind: 'hold', state: 'IN_MEMPOOL', txHash: aHash(7) });
    saidBefore = aCommand({ kind: 'consume', requestHash: aHash(0xc0), status: 'DONE' });
    expect(await consume()).toEqual({ command: saidBefore, isNew: false });
    expect(written).toEqual([]);
    expect(await consume(aHash(0xc1))).toMatchObject({ isNew: true, command: { status: 'DONE' } });
  });

  it('of another transaction than the one that is known, waits for the owner, and outdates no copy: it is used in any case', async () => {
    theTxIs({ kind: 'hold', state: 'IN_MEMPOOL', txHash: aHash(8) });
    expect(await consume()).toMatchObject({ isNew: true, command: { status: 'QUEUED' } });
    expect(writtenKinds()).toEqual(['command']);
  });
});
