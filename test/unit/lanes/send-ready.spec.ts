import { beforeEach, describe, expect, it } from '@jest/globals';
import { signerKey } from '../../../src/kernel/signer-id.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { AllocateNonces } from '../../../src/modules/lanes/application/allocate-nonces.js';
import type { PreparePending, ReadyTx } from '../../../src/modules/lanes/application/prepare-pending.js';
import { SendReady } from '../../../src/modules/lanes/application/send-ready.js';
import type { AlignNonces } from '../../../src/modules/nonces/index.js';
import type { BroadcastAttempts, SignAttempts } from '../../../src/modules/sending/index.js';
import type { Lease, SlotRef } from '../../../src/modules/signers/index.js';
import { LaneMemory } from '../../../src/modules/transactions/index.js';
import { aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };
const OTHER: Lease = { signer: aSigner(2), owner: 'node', token: 2n };
const LEASES = [LEASE, OTHER];
const QUOTE = {};

/** What the chain says for signers that were asked for, and keys of those whose nonce is not agreed upon. */
let nonces: SlotRef[];
let held: Set<string>;
/** Ids of txs that do not wait any more. */
let gone: Set<string>;
/** What the database says to txs that are to get a nonce. */
let allocating: (some: readonly ReadyTx[]) => void;
/** What was done, in order. */
let calls: unknown[][];
let memory: LaneMemory;
let send: SendReady;

beforeEach(() => {
  [nonces, held, gone, allocating, calls] = [[], new Set(), new Set(), () => undefined, []];
  memory = new LaneMemory(new FakeClock());
  memory.recovered(LEASES);
  send = new SendReady(
    {
      execute: async (_chain: unknown, leases: unknown) => (calls.push(['align', leases]), { nonces, held }),
    } as unknown as AlignNonces,
    {
      execute: async (_leases: unknown, some: readonly ReadyTx[], counts: readonly SlotRef[]) => {
        calls.push(['allocate', ...some.map(({ tx }) => tx.id), ...counts]);
        allocating(some);
        return some.filter(({ tx }) => !gone.has(tx.id));
      },
    } as unknown as AllocateNonces,
    {
      quarantine: async (_leases: unknown, { tx }: ReadyTx, error: unknown) => void calls.push(['aside', tx.id, error]),
    } as unknown as PreparePending,
    {
      execute: async (quote: unknown, _leases: unknown, some: readonly ReadyTx[]) => {
        calls.push(['sign', quote, ...some.map(({ tx }) => tx.id)]);
        return some.map(({ tx }) => `signed ${tx.id}`);
      },
    } as unknown as SignAttempts,
    {
      execute: async (_chain: unknown, _leases: unknown, signed: readonly string[]) =>
        void calls.push(['send', ...signed]),
    } as unknown as BroadcastAttempts,
    memory,
  );
});

function ready(lease: Lease, ...txIds: string[]): ReadyTx[] {
  const { signer } = lease;
  return txIds.map((txId) => ({
    tx: aManagedTx({ txId, signer }).build(),
    request: aRequest({ signer }),
    gasLimit: 21_000n,
  }));
}

function sendAll(all: readonly ReadyTx[], feeQuote = async () => (calls.push(['quote']), QUOTE)) {
  return send.execute({ feeQuote } as unknown as ChainConnector, LEASES, all);
}
function poison(): never {
  throw new Error('cannot be written');
}
const callsOf = (...names: readonly string[]): unknown[][] =>
  calls.filter(([name]) => names.some((each) => each === name));

describe('txs that are worth a nonce', () => {
  it('get one when the fees and the nonce of the chain are known, and are signed before they are sent', async () => {
    const nonce = { signer: LEASE.signer, nonce: 7n };
    nonces = [nonce];
    expect(await sendAll(ready(LEASE, 'a', 'b'))).toEqual(new Set([signerKey(LEASE.signer)]));
    expect(calls).toEqual([
      ['quote'],
      ['align', LEASES],
      ['allocate', 'a', 'b', nonce],
      ['sign', QUOTE, 'a', 'b'],
      ['send', 'signed a', 'signed b'],
    ]);
  });

  it('get none while the chain tells no fees: nothing could be signed', async () => {
    await expect(sendAll(ready(LEASE, 'a'), () => Promise.reject(new Error('no fees')))).rejects.toThrow('no fees');
    expect(callsOf('allocate')).toEqual([]);
  });

  it('get none while the nonce of their signer is not agreed upon, and hold up no other signer', async () => {
    held = new Set([signerKey(LEASE.signer)]);
    const moved = await sendAll([...ready(LEASE, 'a'), ...ready(OTHER, 'b')]);
    expect(moved).toEqual(new Set([signerKey(OTHER.signer)]));
    expect(callsOf('allocate', 'sign')).toEqual([
      ['allocate', 'b'],
      ['sign', QUOTE, 'b'],
    ]);
    expect(LEASES.map((lease) => memory.needsRecovery(lease))).toEqual([false, false]);
  });

  it('are sent without the one that can get no nonce, which is set aside', async () => {
    allocating = (some) => {
      if (some.some(({ tx }) => tx.id === 'poison')) poison();
    };
    await sendAll(ready(LEASE, 'a', 'poison', 'c'));
    expect(callsOf('aside', 'sign')).toEqual([
      ['aside', 'poison', new Error('cannot be written')],
      ['sign', QUOTE, 'a', 'c'],
    ]);
  });
});

describe('a lane', () => {
  it('takes its nonce for aligned only where the chain was asked', async () => {
    nonces = [{ signer: LEASE.signer, nonce: 7n }];
    await sendAll([...ready(LEASE, 'a'), ...ready(OTHER, 'b')]);
    expect(LEASES.map((lease) => memory.needsAlignment(lease, 1_000))).toEqual([false, true]);
  });

  it.each([
    ['when no commit wrote that', () => (allocating = () => poison())],
    ['when there was no commit: the only signer with ready txs is held', () => held.add(signerKey(LEASE.signer))],
  ])('does not take its nonce for aligned %s', async (_when, prevent) => {
    nonces = [{ signer: OTHER.signer, nonce: 7n }];
    prevent();
    await sendAll(ready(LEASE, 'a', 'b'));
    expect(memory.needsAlignment(OTHER, 1_000)).toBe(true);
  });

  it('starts from the database when txs were not waiting any more: a commit whose answer was lost may have allocated them', async () => {
    await sendAll(ready(LEASE, 'a', 'b'));
    expect(memory.needsRecovery(LEASE)).toBe(false);
    gone = new Set(['b']);
    await sendAll(ready(LEASE, 'a', 'b'));
    expect(memory.needsRecovery(LEASE)).toBe(true);
  });

  it('of which nothing got a nonce has not moved', async () => {
    gone = new Set(['a']);
    expect(await sendAll([...ready(LEASE, 'a'), ...ready(OTHER, 'b')])).toEqual(new Set([signerKey(OTHER.signer)]));
  });
});
