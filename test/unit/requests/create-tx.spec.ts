import { beforeEach, describe, expect, it } from '@jest/globals';
import { Unprocessable } from '../../../src/kernel/errors.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { Router } from '../../../src/modules/signers/index.js';
import { CreateTx } from '../../../src/modules/requests/application/create-tx.js';
import type { IntakeBatcher } from '../../../src/modules/requests/application/intake-batcher.js';
import type { IntakeRules } from '../../../src/modules/requests/application/intake-rules.js';
import type { TxRequest } from '../../../src/modules/ledger/domain/tx-request.js';
import { aHash, anAddress, aRequest, aSigner } from '../../support/builders.js';
import { aPermit } from '../../support/permit-builders.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { type NewTx, type Intake } from '../../../src/modules/ledger/domain/tx-intake.js';

const SIGNER = aSigner();
const isRepeated = async () => false;

let isServed: boolean;
let isAcceptable: boolean;
/** What the database answers. */
let intake: Intake | ((tx: NewTx) => Intake);
let submitted: { tx: NewTx; bytes: number; together: unknown }[];
let rung: SignerId[];
let metrics: FakeMetrics;
let create: CreateTx;

beforeEach(() => {
  [isServed, isAcceptable, submitted, rung, metrics] = [true, true, [], [], new FakeMetrics()];
  intake = ({ txId }) => ({ kind: 'created', txId, isPaused: false });
  create = new CreateTx(
    {
      submit: async (tx: NewTx, bytes: number, together: unknown) => {
        submitted.push({ tx, bytes, together });
        return typeof intake === 'function' ? intake(tx) : intake;
      },
    } as unknown as IntakeBatcher,
    { next: () => 'tx-1' },
    { ring: (signers) => void rung.push(...signers) },
    metrics,
    {
      assertAcceptable: async () => {
        if (!isAcceptable) throw new Unprocessable('fees_above_cap', 'too much', 'ask for less');
      },
    } as unknown as IntakeRules,
    { isServed: () => isServed } as unknown as Router,
  );
});

const request = (overrides: Partial<TxRequest> = {}): Omit<TxRequest, 'requestHash'> => {
  const { requestHash: _, ...input } = aRequest(overrides);
  return input;
};

/** The hash under which a request is stored. */
async function hashOf(overrides: Partial<TxRequest> = {}): Promise<TxRequest['requestHash']> {
  await create.execute(request(overrides), isRepeated);
  return submitted.at(-1)?.tx.request.requestHash ?? aHash(0);
}

describe('a new request', () => {
  it('is stored with a new id, and whoever acts for its signer is woken', async () => {
    expect(await create.execute(request(), isRepeated)).toEqual({
      txId: 'tx-1',
      signer: SIGNER,
      requestId: 'request-1',
      state: 'PENDING',
      nonce: null,
      txHash: null,
      isPaused: false,
      contractAddress: null,
      isNew: true,
    });
    expect(submitted).toMatchObject([{ tx: { txId: 'tx-1', request: request(), isServed: true }, together: null }]);
    expect([rung, metrics.counted('tx_create_total')]).toEqual([[SIGNER], { created: 1 }]);
  });

  it('says how long it is, and with which it arrived', async () => {
    const together = Symbol('batch');
    const long = { ...request().payload, data: `0x${'ab'.repeat(5_000)}` as const } as TxRequest['payload'];
    await create.store(await create.prepare(request(), isRepeated), together);
    await create.execute(request({ payload: long }), isRepeated);
    const [short, longer] = submitted.map(({ bytes }) => bytes);
    expect((longer ?? 0) - (short ?? 0)).toBe(10_000);
    expect(submitted[0]).toMatchObject({ together });
  });

  const wanting = () => {
    const { payload } = request();
    const authorizationList = [{ chainId: 0n, address: anAddress(3), authority: aSigner(2).address }];
    return request({ payload: { ...payload, authorizationList } });
  };

  it('wakes the other signers, too, that have to sign an authorization for it', async () => {
    await create.execute(wanting(), isRepeated);
    expect(rung).toEqual([SIGNER, aSigner(2)]);
  });

  it('wakes the owners of its permits, too', async () => {
    const { payload } = request();
    const permits = [aPermit({ owner: aSigner(2).address }), aPermit({ owner: aSigner(3).address })];
    await create.execute(request({ payload: { ...payload, permits } }), isRepeated);
    expect(rung).toEqual([SIGNER, aSigner(2), aSigner(3)]);
  });

  it('is refused when an account that is to sign is no signer', async () => {
    intake = { kind: 'unknown_authority', authority: aSigner(2).address };
    await expect(create.execute(wanting(), isRepeated)).rejects.toMatchObject({ code: 'unknown_authority' });
    expect([rung, metrics.counted('tx_create_total')]).toEqual([[], { unknown_authority: 1 }]);
  });

  it('is refused before anything is stored when it breaks a rule', async () => {
    isAcceptable = false;
    await expect(create.execute(request(), isRepeated)).rejects.toMatchObject({ code: 'fees_above_cap' });
    expect([submitted, rung, metrics.counted('tx_create_total')]).toEqual([[], [], {}]);
  });
});

describe('a request that was stored before', () => {
  const known = { txId: 'old', state: 'IN_MEMPOOL', nonce: 7n, txHash: aHash(7), contractAddress: null } as const;

  it('is answered as it is now, and wakes nobody', async () => {
    intake = { kind: 'exists', tx: { ...known, requestHash: await hashOf() }, isPaused: false };
    rung = [];
    const { signer, requestId } = request();
    expect(await create.execute(request(), isRepeated)).toEqual({
      ...known,
      signer,
      requestId,
      isPaused: false,
      isNew: false,
    });
    expect([rung, metrics.counted('tx_create_total')]).toEqual([[], { created: 1, exists: 1 }]);
  });

  it('is a conflict when its key was used for another, and nobody is woken', async () => {
    intake = {
      kind: 'exists',
      isPaused: false,
      tx: { ...known, requestHash: await hashOf({ payload: { ...request().payload, to: anAddress(9) } }) },
    };
    rung = [];
    await expect(create.execute(request(), isRepeated)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'idempotency_conflict',
      facts: { txId: 'old', requestId: 'request-1' },
    });
    expect([rung, metrics.counted('tx_create_total')]).toEqual([[], { created: 1, conflict: 1 }]);
  });
});

describe('a signer that nobody can sign for', () => {
  it('is refused for good when it is not configured', async () => {
    intake = { kind: 'unknown_signer' };
    await expect(create.execute(request(), isRepeated)).rejects.toMatchObject({
      kind: 'unprocessable',
      code: 'unknown_signer',
      facts: { ...SIGNER },
    });
    expect([rung, metrics.counted('tx_create_total')]).toEqual([[], { unknown_signer: 1 }]);
  });

  it('is refused for now when no live node has its key', async () => {
    [isServed, intake] = [false, { kind: 'unserved_signer' }];
    await expect(create.execute(request(), isRepeated)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'signer_unavailable',
      facts: { ...SIGNER },
    });
    expect([submitted[0]?.tx.isServed, rung, metrics.counted('tx_create_total')]).toEqual([
      false,
      [],
      { unserved_signer: 1 },
    ]);
  });
});
