import { beforeEach, describe, expect, it } from '@jest/globals';
import type { FeeCaps, FeeQuote } from '../../../src/modules/chain/index.js';
import { type AttemptDraft, NotEncodable } from '../../../src/modules/sending/application/attempt-signer.js';
import { FeeRules } from '../../../src/modules/sending/application/fee-rules.js';
import { FirstDrafts } from '../../../src/modules/sending/application/first-drafts.js';
import type { Sending } from '../../../src/modules/sending/application/send.js';
import { SignAttempts } from '../../../src/modules/sending/application/sign-attempts.js';
import { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import type { AttemptRepository } from '../../../src/modules/ledger/index.js';
import { CustodyFailed } from '../../../src/modules/signers/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aManagedTx, anAttempt, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
/** Cannot be encoded. */
const POISON = 6n;
const FEES = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };

let memory: LaneMemory;
let steps: string[];
let signing: () => void;
let drafts: AttemptDraft[];
let priced: [FeeCaps, unknown][];
const CAPS_OF_SIGNER = { maxFeePerGas: 2n, maxPriorityFeePerGas: 2n, maxFeePerBlobGas: 2n };
const CAPS_OF_PAYLOAD = { ...CAPS_OF_SIGNER, maxFeePerGas: 1n };
let writes: RecordedWrites;
let log: RecordingLog;
let sign: SignAttempts;

beforeEach(() => {
  [steps, signing, writes, log] = [[], () => undefined, new RecordedWrites(), new RecordingLog()];
  [drafts, priced] = [[], []];
  writes.onWrite = (_changes, operation) => void steps.push(operation);
  memory = new LaneMemory(new FakeClock());
  memory.recovered([LEASE]);
  const signer = {
    sign: async (some: readonly AttemptDraft[]) => {
      signing();
      drafts.push(...some);
      if (some.some(({ nonce }) => nonce === POISON)) throw new NotEncodable(new RangeError('no such number'));
      return some.map((draft) => anAttempt(draft));
    },
  };
  sign = new SignAttempts(
    signer,
    new FirstDrafts(
      fakeOf(FeeRules, {
        capsOf: () => CAPS_OF_PAYLOAD,
        capsFor: () => CAPS_OF_SIGNER,
        clamped: (caps, { request }) => (priced.push([caps, request]), FEES),
      }),
      {} as unknown as AttemptRepository,
    ),
    writes.asDoor(),
    memory,
    { reached: (point) => void steps.push(point) },
    log,
  );
});

function signAt(...nonces: readonly bigint[]): Promise<Sending[]> {
  const allocated = nonces.map((nonce) => ({
    tx: aManagedTx({ txId: `tx-${nonce}`, state: 'ALLOCATED', nonce, gasLimit: 21_000n }).build(),
    request: aRequest(),
  }));
  return sign.execute({} as FeeQuote, [LEASE], allocated);
}

describe('a tx that can never be signed', () => {
  it('fails, frees its slot, and does not keep its neighbours from being signed', async () => {
    const signed = await signAt(5n, POISON, 7n);
    expect(signed.map(({ attempt }) => attempt.nonce)).toEqual([5n, 7n]);
    const failureReason = 'cannot be signed: no such number';
    expect(writes.txs).toMatchObject([{ id: 'tx-6', state: 'FAILED', progress: { failureReason } }]);
    expect(writes.released).toEqual([{ signer: SIGNER, nonce: POISON }]);
    expect(log.lines).toEqual([
      { event: 'failed to sign a transaction', fields: { txId: 'tx-6', error: failureReason } },
    ]);
  });

  it('ends in the commit that stores what was signed beside it', async () => {
    await signAt(5n, POISON);
    expect(writes.written).toMatchObject([{ operation: 'sign', tokens: [1n] }]);
  });
});

describe('what is signed', () => {
  it('is stored before it is given away, and leaves the row of its tx as it is', async () => {
    const signed = await signAt(5n);
    expect(steps).toEqual(['after_sign', 'sign', 'after_persist']);
    expect([writes.inserted, writes.noted]).toEqual([signed.map(({ attempt }) => attempt), signed.map(({ tx }) => tx)]);
    expect([writes.txs, writes.released, writes.written[0]?.tokens]).toEqual([[], [], [1n]]);
    const attempt = { txId: 'tx-5', nonce: 5n, kind: 'payload', gasLimit: 21_000n, fees: FEES };
    expect(writes.inserted).toMatchObject([attempt]);
  });

  it('is given away only as far as the database took it; the rest keeps its slot, and the lane looks again', async () => {
    writes.onWrite = ({ attempts }) => {
      if (attempts?.inserted?.some(({ nonce }) => nonce === 5n)) throw new Error('cannot be stored');
    };
    const signed = await signAt(5n, 7n);
    expect(signed.map(({ attempt }) => attempt.nonce)).toEqual([7n]);
    expect([writes.released, writes.txs, memory.needsRecovery(LEASE)]).toEqual([[], [], true]);
    expect(log.lines).toMatchObject([{ event: 'failed to store an attempt', fields: { txId: 'tx-5' } }]);
  });

  it('leaves the lane its memory when all was stored', async () => {
    await signAt(5n);
    expect(memory.needsRecovery(LEASE)).toBe(false);
  });

  it('is nothing when the keys cannot be reached: that ends no tx', async () => {
    signing = () => {
      throw new Error('custody is away');
    };
    await expect(signAt(5n)).rejects.toThrow('custody is away');
    expect(writes.written).toEqual([]);
  });

  it('is nothing when the custody fails: what waits says so, once', async () => {
    signing = () => {
      throw new CustodyFailed('another key');
    };
    await expect(signAt(5n)).rejects.toThrow('another key');
    expect(writes.txs).toMatchObject([
      { id: 'tx-5', state: 'ALLOCATED', progress: { subState: 'SIGNER_UNAVAILABLE' } },
    ]);
    const tx = aManagedTx({ state: 'ALLOCATED', nonce: 5n, gasLimit: 21_000n, subState: 'SIGNER_UNAVAILABLE' }).build();
    await expect(sign.execute({} as FeeQuote, [LEASE], [{ tx, request: aRequest() }])).rejects.toThrow('another key');
    expect([writes.written.length, writes.inserted, writes.released]).toEqual([1, [], []]);
  });

  it('is nothing when nothing is to be signed', async () => {
    expect([await signAt(), steps]).toEqual([[], []]);
  });
});
