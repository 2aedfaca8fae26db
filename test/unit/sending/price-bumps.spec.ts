import { beforeEach, describe, expect, it } from '@jest/globals';
import { FeeRules } from '../../../src/modules/sending/application/fee-rules.js';
import { PriceBumps, type PricedBump, type WantedBump } from '../../../src/modules/sending/application/price-bumps.js';
import {
  AttemptRepository,
  ManagedTxRepository,
  SignerFeeCaps,
  type TxRequest,
  type Attempt,
  type AttemptFees,
} from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { NO_FEES } from '../../../src/modules/ledger/domain/index.js';
import { ReservedFees } from '../../../src/modules/sending/application/reserved-fees.js';
import { slotKey } from '../../../src/modules/signers/index.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, aManagedTx, anAttempt, aRequest, aSigner, FREE_QUOTE } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { ModelChain } from '../../support/model-chain.js';

const GWEI = 1_000_000_000n;
const CAPS = { maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: 50n * GWEI, maxFeePerBlobGas: 10n };
const fees = (max: bigint, tip: bigint): AttemptFees => ({
  maxFeePerGas: max * GWEI,
  maxPriorityFeePerGas: tip * GWEI,
});
const CLOSING: Partial<TxProgress> = { closing: { as: 'FAILED', reason: 'refused', won: false } };

let stored: Attempt[];
let request: Partial<TxRequest>;
/** Ids of the txs whose requests were read. */
let read: string[];
/** By which gas and reserve the caps of payloads were found. */
let bounds: [bigint, bigint | null][];
const RESERVED = 99n;
let chain: ModelChain;
let custody: KeysOf;
let prices: PriceBumps;

beforeEach(() => {
  [stored, request, read, chain] = [[], {}, [], new ModelChain()];
  [bounds, custody] = [[], new KeysOf([])];
  prices = new PriceBumps(
    fakeOf(AttemptRepository, { ofSlots: async () => stored }),
    fakeOf(ManagedTxRepository, {
      requested: async (ids) => {
        read.push(...ids);
        return ids.map((txId) => ({ tx: aTx({ txId }), request: aRequest(request) }));
      },
    }),
    new FeeRules(
      fakeOf(SignerFeeCaps, {
        of: () => CAPS,
        ofPayload: (_signer, { gas }, reserved) => (bounds.push([gas, reserved ?? null]), CAPS),
      }),
      new FakeClock(),
    ),
    fakeOf(ReservedFees, { of: async (_leases, items) => new Map(items.map(({ tx }) => [slotKey(tx), RESERVED])) }),
    custody,
  );
});

const aTx = (progress: Partial<TxProgress> = {}) =>
  aManagedTx({ txId: 'tx', state: 'IN_MEMPOOL', nonce: 7n, gasLimit: 30_000n, ...progress }).build();

async function priced(
  attempts: readonly Partial<Attempt>[],
  progress: Partial<TxProgress> = {},
  wanted: Partial<WantedBump> = {},
): Promise<PricedBump | undefined> {
  stored = attempts.map((attempt) => anAttempt({ status: 'ACCEPTED', fees: fees(8n, 1n), ...attempt }));
  const [bump] = await prices.execute(await chain.feeQuote(), [], [{ tx: aTx(progress), force: false, ...wanted }]);
  return bump;
}

async function feesOf(...args: Parameters<typeof priced>): Promise<unknown> {
  const bump = await priced(...args);
  if (!bump || 'stored' in bump) return bump;
  return 'draft' in bump ? bump.draft.fees : bump.result;
}

/** The fees after 8 and 1 gwei, and after 16 and 2. */
const [ONCE, TWICE] = [1n, 2n].map((n) => ({
  maxFeePerGas: n * 9n * GWEI,
  maxPriorityFeePerGas: (n * 9n * GWEI) / 8n,
}));

describe('the draft of a bump', () => {
  it('is none where no node has the key', async () => {
    custody.external = [aTx().signer];
    expect(await priced([{ kind: 'fill' }], { kind: 'fill' }, { force: true })).toMatchObject({
      result: 'not_possible',
    });
  });

  it('is the same payload with the same nonce and gas, priced at the block of the quote', async () => {
    request = { payload: { ...aRequest().payload, value: 5n } };
    chain.mineEmpty(4);
    const same = { kind: 'payload', txId: 'tx', nonce: 7n, value: 5n, gasLimit: 30_000n };
    expect(await priced([{}])).toMatchObject({ draft: { ...same, fees: ONCE, pricedAtBlock: 4 } });
  });

  it('is another no-op with the gas of the last one, for a fill and for a slot that is being closed', async () => {
    const noOp = { to: aSigner().address, value: 0n, data: '0x', gasLimit: 22_000n };
    const fill = await priced([{ kind: 'fill', gasLimit: 22_000n }], { kind: 'fill' });
    expect(fill).toMatchObject({ draft: { ...noOp, kind: 'fill' } });
    const cancel = await priced([{}, { kind: 'cancel', gasLimit: 22_000n }], CLOSING);
    expect(cancel).toMatchObject({ draft: { ...noOp, kind: 'cancel' } });
    expect(read).toEqual([]);
  });
});

describe('a bump that nodes refused', () => {
  const refused: Partial<Attempt> = { status: 'REJECTED', errorClass: 'insufficient_funds', gasLimit: 30_000n };

  it('for want of funds is the same again, as it is stored, while the price is the same', async () => {
    const [out, bumped] = [{}, { ...refused, txHash: aHash(2), ...(ONCE && { fees: ONCE }) }];
    expect(await priced([out, bumped])).toMatchObject({ stored: { txHash: aHash(2) } });
    expect(await priced([out, bumped], {}, { force: true })).toMatchObject({ stored: { txHash: aHash(2) } });
  });

  it.each<[string, Partial<Attempt>]>([
    ['other fees', { fees: fees(18n, 2n) }],
    ['other gas', { gasLimit: 31_000n }],
    ['another type', { type: 0 }],
    ['another kind', { kind: 'cancel' }],
    ['another tx', { txId: 'other' }],
  ])('is not the same with %s', async (_words, other) => {
    expect(await priced([{ ...refused, ...(ONCE && { fees: ONCE }), ...other }, {}])).toMatchObject({
      draft: { fees: ONCE },
    });
  });
});

describe('the price of a bump', () => {
  it.each(['fee_overflow', 'tip_above_fee_cap'] as const)(
    'is none while nodes refuse with %s what a pool had, which no higher price mends, unless a client asks for one',
    async (errorClass) => {
      const refused = { errorClass };
      const bump = { ...refused, status: 'REJECTED' as const, fees: fees(9n, 1n) };
      expect(await feesOf([refused, bump])).toBe('not_possible');
      expect(await feesOf([refused, bump], {}, { force: true })).toEqual(ONCE);
      expect(await feesOf([{}, bump])).toEqual(ONCE);
    },
  );

  it('of a no-op does not depend on why nodes refuse the payload that it competes with', async () => {
    const payload = { errorClass: 'fee_overflow' as const };
    const noOp = { kind: 'cancel' as const, fees: fees(9n, 1n) };
    expect(await feesOf([payload, { ...noOp, status: 'REJECTED', errorClass: 'txpool_full' }], CLOSING)).toEqual(
      fees(9n, 2n),
    );
    expect(await feesOf([payload, { ...noOp, ...payload }], CLOSING)).toBe('not_possible');
  });

  it('is above every attempt of the slot that may be out, also of another tx', async () => {
    expect(await feesOf([{ txId: 'another', fees: fees(16n, 2n) }, {}])).toEqual(TWICE);
    expect(await feesOf([{ fees: fees(16n, 2n), status: 'SIGNED' }, {}])).toEqual(TWICE);
  });

  it('is above what was refused as too cheap, and not above what was refused for another reason', async () => {
    const refused = { fees: fees(16n, 2n), status: 'REJECTED' } as const;
    expect(await feesOf([{}, { ...refused, errorClass: 'underpriced' }])).toEqual(TWICE);
    expect(await feesOf([{}, { ...refused, errorClass: 'insufficient_funds' }])).toEqual(ONCE);
  });

  it('goes up when a node demands more, also when the refused price was above the market', async () => {
    const refused = { fees: fees(10n, 6n), status: 'UNKNOWN', errorClass: 'replacement_underpriced' } as const;
    expect(await feesOf([{ fees: fees(16n, 8n) }])).toBe('above_market');
    expect(await feesOf([{}, refused])).toMatchObject({
      maxFeePerGas: (45n * GWEI) / 4n,
      maxPriorityFeePerGas: (27n * GWEI) / 4n,
    });
  });

  it('is limited by the caps of the chain, and by the fees that the client asked for', async () => {
    expect(await feesOf([{ fees: fees(99n, 1n) }])).toBe('capped');
    request = { fees: { ...NO_FEES, maxFeePerGas: 8n * GWEI, maxPriorityFeePerGas: null } };
    expect(await feesOf([{}])).toBe('capped');
    request = { fees: { ...NO_FEES, maxFeePerGas: null, maxPriorityFeePerGas: GWEI } };
    expect(await feesOf([{}])).toBe('capped');
    request = { fees: { ...NO_FEES, maxFeePerGas: 9n * GWEI, maxPriorityFeePerGas: null } };
    expect(await feesOf([{}])).toEqual(ONCE);
  });
});

describe('a bump that a client wants', () => {
  it('is none where gas is free, and the account has no more than the value', async () => {
    chain.feeQuote = async () => FREE_QUOTE;
    const free = [{ fees: fees(0n, 0n), gasLimit: 30_000n }];
    request = { payload: { ...aRequest().payload, value: 9n } };
    expect(await priced(free, {}, { force: true, balance: 30_008n })).toMatchObject({ result: 'unaffordable' });
    expect(await priced(free, {}, { force: true, balance: 30_009n })).toMatchObject({ draft: { value: 9n } });
    expect(await priced(free, {}, { force: true, balance: null })).toMatchObject({ draft: { value: 9n } });
  });

  it('goes above the market, and above the fees of its first request', async () => {
    request = { fees: { ...NO_FEES, maxFeePerGas: 8n * GWEI, maxPriorityFeePerGas: GWEI } };
    expect(await feesOf([{}], {}, { force: true })).toEqual(ONCE);
    expect(await feesOf([{ fees: fees(16n, 8n) }], {}, { force: true })).toEqual(fees(18n, 9n));
  });

  it('has at least the fees that the client names, as far as the caps allow, and what a pool takes', async () => {
    expect(await feesOf([{}], {}, { force: true, fees: fees(20n, 5n) })).toEqual(fees(20n, 5n));
    expect(await feesOf([{}], {}, { force: true, fees: fees(20n, 1n) })).toEqual({
      maxFeePerGas: 20n * GWEI,
      maxPriorityFeePerGas: ONCE?.maxPriorityFeePerGas,
    });
    expect(await feesOf([{}], {}, { force: true, fees: fees(101n, 5n) })).toEqual(fees(100n, 5n));
  });

  it('is within the caps also when nothing was sent yet that it would have to outbid', async () => {
    const refused = { status: 'REJECTED', errorClass: 'oversized_data' } as const;
    expect(await feesOf([refused], {}, { force: true, fees: fees(101n, 51n) })).toEqual(fees(100n, 50n));
  });

  it('has what the market asks for where the client names one fee alone', async () => {
    expect(await feesOf([{}], {}, { force: true, fees: { maxFeePerGas: 20n * GWEI } })).toEqual({
      maxFeePerGas: 20n * GWEI,
      maxPriorityFeePerGas: ONCE?.maxPriorityFeePerGas,
    });
    const tip = { maxPriorityFeePerGas: 30n * GWEI };
    expect(await feesOf([{}], {}, { force: true, fees: tip })).toEqual(fees(30n, 30n));
  });

  it('with blobs is twice as dear in each fee, or as dear as the client names', async () => {
    const blob: Partial<Attempt> = { type: 3, fees: { ...fees(8n, 1n), maxFeePerBlobGas: 3n } };
    request = { payload: { ...aRequest().payload, blobHashes: [aHash(3)] } };
    expect(await feesOf([blob], {}, { force: true })).toEqual({ ...fees(16n, 2n), maxFeePerBlobGas: 6n });
    expect(await feesOf([blob], {}, { force: true, fees: { maxFeePerBlobGas: 9n } })).toEqual({
      ...fees(16n, 2n),
      maxFeePerBlobGas: 9n,
    });
    expect(await priced([blob], {}, { force: true })).toMatchObject({ draft: { type: 3, blobHashes: [aHash(3)] } });
  });
});

it.each<[string, Partial<Attempt>[], Partial<TxProgress>]>([
  ['without an attempt of its own', [{ txId: 'another' }], {}],
  ['that is mined', [{}], { state: 'MINED' }],
  ['whose account cannot pay', [{}], { subState: 'INSUFFICIENT_FUNDS' }],
])('a tx %s cannot be bumped, also when a client wants it', async (_what, attempts, progress) => {
  expect(await feesOf(attempts, progress, { force: true })).toBe('not_possible');
});

it('a payload is bound by what is reserved for its slot, for the gas that is signed; a no-op is not', async () => {
  await priced([{ txId: 'tx', gasLimit: 30_000n }], { gasLimit: 60_000n });
  expect(new Set(bounds.map(String))).toEqual(new Set([`60000,${RESERVED}`]));
  bounds = [];
  await priced([{ txId: 'tx', kind: 'cancel' }], CLOSING);
  expect(bounds).toEqual([]);
});

describe('what a pool may have dropped', () => {
  const enough = { fees: fees(16n, 8n) };

  it('is sent again without a change where its price suffices and a node had taken it', async () => {
    expect(await priced([enough], {}, { mayBeDropped: true })).toMatchObject({
      result: 'above_market',
      again: { txId: 'tx', status: 'ACCEPTED', ...enough },
    });
  });

  it.each<[string, Partial<Attempt>, Partial<WantedBump>]>([
    ['nobody looks for it', enough, {}],
    ['no node had taken it', { ...enough, status: 'UNKNOWN' }, { mayBeDropped: true }],
    ['a node refused it since', { ...enough, errorClass: 'underpriced' }, { mayBeDropped: true }],
    ['another price is due', {}, { mayBeDropped: true }],
  ])('is not sent again where %s', async (_what, attempt, wanted) => {
    expect(await priced([attempt], {}, wanted)).not.toHaveProperty('again');
  });

  it('is not sent again while it waits for the end of a refusal, which has pauses of its own', async () => {
    const refused = { subState: 'OUTCOME_UNKNOWN', lastError: 'too many requests' } as const;
    const bump = await priced([{ ...enough, errorClass: 'already_known' }], refused, { mayBeDropped: true });
    expect(bump).toMatchObject({ result: 'above_market' });
    expect(bump).not.toHaveProperty('again');
  });
});
