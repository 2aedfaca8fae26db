import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { type BroadcastOutcome } from '../../../src/modules/chain/index.js';
import { BroadcastAttempts } from '../../../src/modules/sending/application/broadcast-attempts.js';
import { ClassifySends } from '../../../src/modules/sending/application/classify-sends.js';
import { RecordSends } from '../../../src/modules/sending/application/record-sends.js';
import type { AnsweredSend, ClassifiedSend, Sending } from '../../../src/modules/sending/application/send.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import type { Attempt } from '../../../src/modules/ledger/domain/attempt.js';
import { BlobRepository } from '../../../src/modules/ledger/index.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, aManagedTx, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';

const SIGNER = aSigner();
const OTHER = aSigner(2);
const LEASES = [
  { signer: SIGNER, owner: 'node', token: 1n },
  { signer: OTHER, owner: 'node', token: 2n },
];
const REJECTED: BroadcastOutcome = { kind: 'rejected', errorClass: 'oversized_data', message: 'too large' };
const VERDICT = { kind: 'refused', as: 'FAILED', reason: 'as classified' } as const;

const noSidecars = fakeOf(BlobRepository, { sidecars: async () => new Map() });

let answers: (nonce: bigint) => BroadcastOutcome;
/** What happened, in order. */
let steps: string[];
/** Nonces of each call of the chain. */
let batches: bigint[][];
let recorded: { readonly leases: readonly Lease[]; readonly sends: readonly ClassifiedSend[] }[];
let writes: RecordedWrites;
let broadcast: BroadcastAttempts;

beforeEach(() => {
  [answers, steps, batches, recorded] = [() => ({ kind: 'accepted' }), [], [], []];
  writes = new RecordedWrites();
  writes.onWrite = (_changes, operation) => void steps.push(operation);
  broadcast = new BroadcastAttempts(
    writes.asDoor(),
    noSidecars,
    fakeOf(ClassifySends, {
      execute: async (_chain: unknown, answered: readonly AnsweredSend[]) => {
        steps.push('classify');
        return answered.map((send) => ({ ...send, verdict: VERDICT }));
      },
    }),
    fakeOf(RecordSends, {
      execute: async (leases: readonly Lease[], sends: readonly ClassifiedSend[]) => {
        steps.push('record');
        recorded.push({ leases, sends });
        return [];
      },
    }),
    { reached: (point) => void steps.push(point) },
    new FakeClock(),
    { pause: () => new Promise(() => undefined) },
  );
});

const chain = fakeOf(EthersChainConnector, {
  chainId: DEV_CHAIN,
  broadcast: async (sent: readonly { hash: string; raw: string }[]) => {
    steps.push('broadcast');
    const nonces = sent.map(({ hash }) => BigInt(hash));
    batches.push(nonces);
    await Promise.resolve();
    steps.push('answer');
    return nonces.map((nonce) => answers(nonce));
  },
});

/** One whose hash is its nonce. */
function sending(nonce: bigint, attempt: Partial<Attempt> = {}): Sending {
  const tx = aManagedTx({ txId: `tx-${nonce}`, state: 'ALLOCATED', nonce, signer: attempt.signer ?? SIGNER }).build();
  return { tx, attempt: anAttempt({ nonce, txHash: aHash(nonce), txId: tx.id, ...attempt }) };
}

const send = (...sendings: readonly Sending[]): Promise<unknown> => broadcast.execute(chain, LEASES, sendings);
const statuses = (): unknown[] =>
  recorded.flatMap(({ sends }) => sends.map(({ attempt, outcome }) => [attempt.nonce, outcome.status]));

describe('what is sent', () => {
  it('goes out in nonce order, and its answers are classified and then recorded', async () => {
    await send(sending(8n), sending(7n));
    expect(steps).toEqual(['broadcast', 'answer', 'after_broadcast', 'classify', 'record', 'after_record']);
    expect(batches).toEqual([[7n, 8n]]);
    expect(statuses()).toEqual([
      [7n, 'ACCEPTED'],
      [8n, 'ACCEPTED'],
    ]);
    expect(recorded).toMatchObject([{ leases: LEASES, sends: [{ verdict: VERDICT }, { verdict: VERDICT }] }]);
  });

  it('is nothing when there is nothing to send', async () => {
    await send();
    expect(steps).toEqual([]);
  });

  it('does not wait for the answer to the batch of another signer', async () => {
    const many = (signer: SignerId) => Array.from({ length: 60 }, (_, nonce) => sending(BigInt(nonce), { signer }));
    await send(...many(SIGNER), ...many(OTHER));
    expect(steps.slice(0, 4)).toEqual(['broadcast', 'broadcast', 'answer', 'answer']);
    expect(statuses()).toHaveLength(120);
  });

  it('is not recorded where the chain gave no answer', async () => {
    const silent = fakeOf(EthersChainConnector, { ...chain, broadcast: async () => [] });
    await broadcast.execute(silent, LEASES, [sending(7n)]);
    expect(statuses()).toEqual([]);
  });

  it('stays in doubt when it may have been out before, whatever this send is answered', async () => {
    answers = () => REJECTED;
    await send(sending(7n, { status: 'UNKNOWN' }), sending(8n));
    expect(statuses()).toEqual([
      [7n, 'UNKNOWN'],
      [8n, 'REJECTED'],
    ]);
  });
});

describe('what every node had refused', () => {
  const refused = () => sending(7n, { status: 'REJECTED', signer: OTHER });

  it('is no longer proven to be in no pool, from before the send on, under the lease of its signer', async () => {
    await send(refused(), sending(8n));
    expect(steps.slice(0, 2)).toEqual(['resend', 'broadcast']);
    expect(writes.written).toEqual([
      { operation: 'resend', tokens: [2n], changes: { attempts: { resent: [refused().attempt] } } },
    ]);
  });

  it('is not sent when that cannot be written, and neither are its neighbours', async () => {
    writes.onWrite = () => {
      throw new Error('lease lost');
    };
    await expect(send(refused(), sending(8n))).rejects.toThrow('lease lost');
    expect([batches, recorded]).toEqual([[], []]);
  });
});
