import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import { type Lease, slotKey, type SlotRef } from '../../../src/modules/signers/index.js';
import type { ReservedFees } from '../../../src/modules/sending/index.js';
import type { BroadcastAttempts } from '../../../src/modules/sending/application/broadcast-attempts.js';
import { RecoverLane } from '../../../src/modules/lanes/application/resume-lanes.js';
import type { Sending } from '../../../src/modules/sending/application/send.js';
import type { SignAttempts } from '../../../src/modules/sending/application/sign-attempts.js';
import type { Attempt } from '../../../src/modules/ledger/domain/attempt.js';
import type { RequestedTx } from '../../../src/modules/ledger/domain/managed-tx.repository.js';
import type { AttemptRepository, TxsInFlight, WriteChanges } from '../../../src/modules/ledger/index.js';
import { aHash, aManagedTx, anAttempt, aRequest, aSigner } from '../../support/builders.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };
const QUOTE = {};

let left: RequestedTx[];
let known: Attempt[];
let steps: unknown[][];
let sent: readonly Sending[] | null;
let quotes: number;
/** What was told of reserves when something was signed. */
let limits: unknown;
let recover: RecoverLane;

beforeEach(() => {
  [left, known, steps, sent, quotes, limits] = [[], [], [], null, 0, null];
  recover = new RecoverLane(
    {
      allocated: async (signers: unknown) => (steps.push(['allocated', signers]), left),
    } as unknown as TxsInFlight,
    {
      ofSlots: async (slots: readonly SlotRef[]) => (steps.push(['attempts of', slots]), known),
    } as unknown as AttemptRepository,
    {
      receiptsDue: async (leases: unknown) => void steps.push(['ask receipts', leases]),
    } as unknown as WriteChanges,
    {
      of: async (_leases: unknown, items: readonly RequestedTx[]) =>
        new Map(items.map(({ tx }) => [slotKey(tx), tx.nonce])),
    } as unknown as ReservedFees,
    {
      execute: async (quote: unknown, leases: unknown, items: readonly RequestedTx[], reserved: unknown) => {
        steps.push(['sign', quote, leases, items.map(({ tx }) => tx.id)]);
        limits = reserved;
        return items.map(({ tx }) => ({ tx, attempt: anAttempt({ txId: tx.id, txHash: aHash(99) }) }));
      },
    } as unknown as SignAttempts,
    {
      execute: async (_chain: unknown, _leases: unknown, sendings: readonly Sending[]) =>
        void (sent = [...(sent ?? []), ...sendings]),
    } as unknown as BroadcastAttempts,
    new RecordingLog(),
  );
});

function recovered(): Promise<void> {
  const chain = { feeQuote: async () => ((quotes += 1), QUOTE) } as unknown as ChainConnector;
  return recover.execute(chain, [LEASE]);
}

const allocated = (nonce: bigint): RequestedTx => ({
  tx: aManagedTx({ txId: `tx-${nonce}`, state: 'ALLOCATED', nonce }).build(),
  request: aRequest(),
});

describe('what a crash or a predecessor left', () => {
  it('may be mined already: its receipts are asked for first, and that is all when nothing is allocated', async () => {
    await recovered();
    expect(steps).toEqual([
      ['ask receipts', [LEASE]],
      ['allocated', [LEASE.signer]],
    ]);
    expect([sent, quotes]).toEqual([null, 0]);
  });

  it('is sent without a quote where its bytes exist', async () => {
    left = [allocated(7n), allocated(8n)];
    known = [anAttempt({ nonce: 7n, txId: 'tx-7', status: 'SIGNED' })];
    const chain = { feeQuote: () => Promise.reject(new Error('no quote')) } as unknown as ChainConnector;
    await expect(recover.execute(chain, [LEASE])).rejects.toThrow('no quote');
    expect(sent?.map(({ tx }) => tx.id)).toEqual(['tx-7']);
  });

  it('rests while another tx of its slot is mined: a replacement that nobody wrote down as sent', async () => {
    const tx = aManagedTx({ txId: 'tx-7', state: 'ALLOCATED', nonce: 7n, replaces: 'tx-0', subState: 'REPLACING' });
    left = [{ tx: tx.build(), request: aRequest() }];
    known = [anAttempt({ nonce: 7n, txId: 'tx-7', status: 'SIGNED' })];
    await recovered();
    expect([sent ?? [], quotes]).toEqual([[], 0]);
  });

  it('is sent again with the same bytes where it was signed, and may be out; only the rest is signed', async () => {
    left = [allocated(7n), allocated(8n)];
    known = [anAttempt({ nonce: 7n, txId: 'tx-7', status: 'SIGNED' })];
    await recovered();
    expect(steps.slice(2)).toEqual([
      ['attempts of', [7n, 8n].map((nonce) => ({ signer: LEASE.signer, nonce }))],
      ['sign', QUOTE, [LEASE], ['tx-8']],
    ]);
    expect(limits).toEqual(new Map([[slotKey({ signer: LEASE.signer, nonce: 8n }), 8n]]));
    expect(sent).toMatchObject([
      { tx: { id: 'tx-7' }, attempt: { txHash: aHash(1), status: 'UNKNOWN' } },
      { tx: { id: 'tx-8' }, attempt: { txHash: aHash(99) } },
    ]);
  });

  it('is sent again as it was signed last', async () => {
    left = [allocated(7n)];
    known = [1, 2].map((n) => anAttempt({ txId: 'tx-7', txHash: aHash(n), status: 'REJECTED' }));
    await recovered();
    expect(sent).toMatchObject([{ attempt: { txHash: aHash(2), status: 'REJECTED' } }]);
    expect([steps.length, quotes]).toEqual([3, 0]);
  });

  it('is a fill, too: it is signed, or sent again, like every tx that holds a slot', async () => {
    const fillOf = (nonce: bigint): RequestedTx => ({
      tx: aManagedTx({ txId: `tx-${nonce}`, kind: 'fill', state: 'ALLOCATED', nonce }).build(),
      request: aRequest(),
    });
    left = [fillOf(7n), fillOf(8n)];
    known = [anAttempt({ nonce: 7n, kind: 'fill', txId: 'tx-7', status: 'ACCEPTED' })];
    await recovered();
    expect(sent?.map(({ tx, attempt }) => [tx.id, attempt.txHash])).toEqual([
      ['tx-7', aHash(1)],
      ['tx-8', aHash(99)],
    ]);
    // Only payloads have a policy.
    expect(limits).toEqual(new Map());
  });

  it('is signed where its slot had another transaction before: a fill, or one of another tx', async () => {
    left = [allocated(7n)];
    known = [anAttempt({ kind: 'fill', txId: 'fill-1' }), anAttempt({ txId: 'tx-6' })];
    await recovered();
    expect(sent).toMatchObject([{ tx: { id: 'tx-7' }, attempt: { txHash: aHash(99) } }]);
  });
});
