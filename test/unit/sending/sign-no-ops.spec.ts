import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainConnector, FeeQuote, GasEstimate } from '../../../src/modules/chain/index.js';
import type { AttemptDraft } from '../../../src/modules/sending/application/attempt-signer.js';
import type { FeeRules } from '../../../src/modules/sending/application/fee-rules.js';
import { SignNoOps, type SlotToConsume } from '../../../src/modules/sending/application/sign-no-ops.js';
import type { Sending } from '../../../src/modules/sending/application/send.js';
import { type Attempt, type AttemptFees } from '../../../src/modules/ledger/domain/attempt.js';
import { aHash, aManagedTx, anAttempt, aSigner, DEV_CHAIN, FREE_QUOTE } from '../../support/builders.js';
import { gasRules } from '../../support/gas-rules.js';
import { impatientBalances } from '../../support/refusals.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { highestFees } from '../../../src/modules/sending/domain/fee-bump.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const OTHER_LEASE = { signer: aSigner(2), owner: 'node', token: 2n };
const PRICE: AttemptFees = { maxFeePerGas: 900n, maxPriorityFeePerGas: 90n };
const CLOSING = { as: 'FAILED', reason: 'refused', won: false } as const;

type Rival = Pick<Attempt, 'fees' | 'status'> & Partial<Pick<Attempt, 'errorClass'>>;

/** The most gas that the chain allows a transaction. */
const CAP = 10_000_000n;

/** The price that each no-op was asked to outbid. */
let outbid: (AttemptFees | null)[];
/** The gas that each no-op was priced for. */
let pricedFor: bigint[];
/** The words of the last refusal that each no-op was priced with. */
let refusals: (string | null)[];
/** What the account of each no-op has for gas. */
let gasMoney: (bigint | null)[];
let quote: Partial<FeeQuote>;
/** Null while the caps of the chain do not allow what it takes. */
let price: (rival: AttemptFees | null) => AttemptFees | null;
let estimates: GasEstimate[];
let writes: RecordedWrites;
let log: RecordingLog;
let balancesOf: (accounts: readonly string[]) => Promise<bigint[]>;
let signNoOps: SignNoOps;

beforeEach(() => {
  [outbid, refusals, price, writes, log] = [[], [], () => PRICE, new RecordedWrites(), new RecordingLog()];
  estimates = [{ kind: 'ok', gas: 22_000n }];
  [pricedFor, gasMoney, quote] = [[], [], { blockNumber: 42 }];
  const signer = {
    sign: async (drafts: readonly AttemptDraft[]) =>
      drafts.map((draft) => anAttempt({ ...draft, txHash: aHash(draft.nonce + 2n) })),
  };
  const fees = {
    noOp: (
      _signer: unknown,
      _quote: unknown,
      rivals: readonly Attempt[],
      gasLimit: bigint,
      words: string | null,
      forGas: bigint | null,
    ) => {
      gasMoney.push(forGas);
      pricedFor.push(gasLimit);
      const rival = highestFees(rivals);
      outbid.push(rival);
      refusals.push(words);
      return price(rival);
    },
  };
  balancesOf = async (accounts) => accounts.map(() => 5n);
  signNoOps = new SignNoOps(
    signer,
    fees as unknown as FeeRules,
    gasRules(CAP),
    impatientBalances(),
    writes.asDoor(),
    log,
  );
});

function execute(...wanted: readonly SlotToConsume[]): Promise<Sending[]> {
  const chain = {
    chainId: DEV_CHAIN,
    feeQuote: async () => quote,
    balances: (accounts: readonly string[]) => balancesOf(accounts),
    estimateGas: async (calls: readonly unknown[]) => estimates.slice(0, calls.length),
  } as unknown as ChainConnector;
  return signNoOps.execute(chain, [LEASE, OTHER_LEASE], wanted);
}

function closeAgainst(...rivals: readonly Rival[]): Promise<Sending[]> {
  const tx = aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n, closing: CLOSING, failureReason: 'refused' }).build();
  return execute({ tx, attempts: rivals.map((rival) => anAttempt(rival)) });
}

function closing(lastError: string, ...attempts: readonly Partial<Attempt>[]): SlotToConsume {
  const progress = { state: 'IN_MEMPOOL', nonce: 7n, closing: CLOSING, failureReason: 'no', lastError } as const;
  const tx = aManagedTx({ txId: 'tx-1', ...progress }).build();
  return { tx, attempts: attempts.map((attempt) => anAttempt(attempt)) };
}

function fillAgain(state: 'ALLOCATED' | 'IN_MEMPOOL', nonce = 7n, rivals: readonly Rival[] = []): SlotToConsume {
  const tx = aManagedTx({ txId: `fill-${nonce}`, kind: 'fill', state, nonce }).build();
  return { tx, attempts: rivals.map((rival) => anAttempt(rival)) };
}

const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): AttemptFees => ({
  maxFeePerGas,
  maxPriorityFeePerGas,
});
const RIVAL = { fees: fees(500n, 20n), status: 'UNKNOWN' } as const;

describe('the no-op that closes a slot', () => {
  it('outbids the highest of both prices of all that may be out, also when what was signed last is cheaper', async () => {
    await closeAgainst(
      RIVAL,
      { fees: fees(300n, 50n), status: 'ACCEPTED' },
      { fees: fees(400n, 10n), status: 'SIGNED' },
    );
    expect(outbid).toEqual([fees(500n, 50n)]);
  });

  it('does not outbid what every node refused, for that is in no pool', async () => {
    await closeAgainst(RIVAL, { fees: fees(800n, 80n), status: 'REJECTED' });
    expect(outbid).toEqual([fees(500n, 20n)]);
  });

  it('has the nonce, the name of the tx, its price and its gas, and is stored before it is given away', async () => {
    const sendings = await closeAgainst(RIVAL);
    const noOp = {
      nonce: 7n,
      kind: 'cancel',
      to: SIGNER.address,
      value: 0n,
      data: '0x',
      gasLimit: 27_500n,
      fees: PRICE,
    };
    expect(writes.inserted).toMatchObject([{ ...noOp, txId: sendings[0]?.tx.id, accessList: [] }]);
    expect(writes.written).toMatchObject([{ operation: 'sign_no_op', tokens: [1n] }]);
    expect(sendings).toMatchObject([{ attempt: { txHash: aHash(9) } }]);
  });

  it('is the hash that the tx has from now on, and competes with its payload', async () => {
    const [sending] = await closeAgainst(RIVAL);
    expect(writes.txs).toEqual([sending?.tx]);
    expect(sending?.tx.progress).toMatchObject({ txHash: aHash(9), closing: CLOSING });
    expect(sending?.tx.pendingEvents()).toMatchObject([{ reason: 'competitive_sent', txHash: aHash(9) }]);
  });

  it('costs no more than its account has, where gas is free and that is told in time', async () => {
    await closeAgainst(RIVAL);
    quote = FREE_QUOTE;
    await closeAgainst(RIVAL);
    balancesOf = () => new Promise(() => undefined);
    await closeAgainst(RIVAL);
    expect(gasMoney).toEqual([null, 5n, null]);
  });

  it('waits while its price is above the caps of the chain, and the log says so', async () => {
    price = () => null;
    expect([await closeAgainst(RIVAL), writes.written]).toEqual([[], []]);
    expect(log.lines).toMatchObject([
      { event: 'no-op not signed: nodes refused the highest price that it can pay', fields: { nonce: 7n } },
    ]);
  });
});

describe('the words of a refusal', () => {
  const refused = { ...RIVAL, kind: 'cancel', txId: 'tx-1', errorClass: 'replacement_underpriced' } as const;
  it('count for the price of the next no-op when the last one was too cheap', async () => {
    await execute(closing('at least 7', RIVAL, refused));
    expect(refusals).toEqual(['at least 7']);
  });

  it('do not when they are about the payload, another tx, or something else than the price', async () => {
    const payload = { ...refused, kind: 'payload' } as const;
    const foreign = { ...refused, txId: 'tx-2' };
    const oversized = { ...refused, errorClass: 'oversized_data' } as const;
    for (const last of [payload, foreign, oversized]) await execute(closing('at least 7', RIVAL, last));
    expect(refusals).toEqual([null, null, null]);
  });
});

describe('a no-op after one that the balance did not cover', () => {
  const unpaid = (gasLimit: bigint): SlotToConsume =>
    closing('funds', RIVAL, {
      kind: 'cancel',
      txId: 'tx-1',
      status: 'REJECTED',
      errorClass: 'insufficient_funds',
      fees: fees(100n, 10n),
      gasLimit,
    });
  const signed = async (slot: SlotToConsume): Promise<number> => (await execute(slot)).length;

  beforeEach(() => {
    price = () => fees(100n, 10n);
    balancesOf = async (accounts) => accounts.map(() => 10_000_000n);
  });

  it('is signed only when it costs less, whether by its gas or by its price', async () => {
    expect(await signed(unpaid(27_500n))).toBe(0);
    expect(await signed(unpaid(27_501n))).toBe(1);
    price = () => fees(99n, 10n);
    expect(await signed(unpaid(27_500n))).toBe(1);
    price = () => fees(101n, 10n);
    expect(await signed(unpaid(27_500n))).toBe(0);
  });

  it('is not signed when the balance does not cover it either', async () => {
    balancesOf = async () => [2_749_999n];
    expect(await signed(unpaid(60_000n))).toBe(0);
    balancesOf = async () => [2_750_000n];
    expect(await signed(unpaid(60_000n))).toBe(1);
  });

  it('is estimated again only when it had more gas than a plain transfer', async () => {
    estimates = [{ kind: 'ok', gas: 21_000n }];
    await closeAgainst(RIVAL);
    estimates = [{ kind: 'ok', gas: 21_001n }];
    await execute(unpaid(21_000n));
    await execute(unpaid(60_000n));
    expect(pricedFor).toEqual([21_000n, 21_000n, 26_251n]);
  });
});

describe('the next attempt of a fill', () => {
  it.each(['ALLOCATED', 'IN_MEMPOOL'] as const)('is signed while it is %s, and bumps its price', async (state) => {
    const [sending] = await execute(fillAgain(state, 7n, [RIVAL]));
    expect(outbid).toEqual([RIVAL.fees]);
    expect(writes.inserted).toMatchObject([{ kind: 'fill', txId: 'fill-7', nonce: 7n, to: SIGNER.address }]);
    expect(sending?.tx).toMatchObject({ state, progress: { txHash: aHash(9), closing: null } });
    expect(sending?.tx.pendingEvents()).toMatchObject([{ reason: 'gas_bumped', txHash: aHash(9) }]);
  });

  it('outbids nothing where nothing may be out', async () => {
    await execute(fillAgain('ALLOCATED', 7n, [{ ...RIVAL, status: 'REJECTED' }]));
    expect(outbid).toEqual([null]);
  });
});

describe('the gas of a no-op', () => {
  it('is what its price is for', async () => {
    await closeAgainst(RIVAL);
    expect([pricedFor, writes.inserted.map(({ gasLimit }) => gasLimit)]).toEqual([[27_500n], [27_500n]]);
  });

  it('is more than nodes refused as too little, and known to be for what comes next', async () => {
    const refused = { ...RIVAL, kind: 'cancel', txId: 'tx-1', gasLimit: 60_000n } as const;
    const tooLittle = { ...refused, gasLimit: 64_000n, errorClass: 'intrinsic_gas_too_low' } as const;
    await execute(closing('too little', refused, tooLittle));
    await closeAgainst(RIVAL);
    expect(writes.inserted.map(({ gasLimit }) => gasLimit)).toEqual([80_000n, 80_000n]);
  });

  it('is that of its own signer, and the one that the chain wants for others where there is no estimate', async () => {
    estimates = [
      { kind: 'ok', gas: 22_000n },
      { kind: 'unavailable', message: 'no answer' },
    ];
    const ofOther = aManagedTx({
      txId: 'fill-8',
      kind: 'fill',
      state: 'ALLOCATED',
      signer: aSigner(2),
      nonce: 8n,
    }).build();
    await execute(fillAgain('ALLOCATED', 7n), { tx: ofOther, attempts: [] });
    expect(writes.inserted.map(({ nonce, gasLimit }) => [nonce, gasLimit])).toEqual([
      [7n, 27_500n],
      [8n, 27_500n],
    ]);
  });

  it('is never above what the chain allows a transaction, whatever a node estimates', async () => {
    estimates = [{ kind: 'ok', gas: CAP + 1n }];
    await closeAgainst(RIVAL);
    expect(writes.inserted.map(({ gasLimit }) => gasLimit)).toEqual([CAP]);
  });

  it('goes with its tx when a neighbour has no price', async () => {
    price = (rival) => (rival === null ? null : PRICE);
    const sendings = await execute(fillAgain('ALLOCATED', 7n), fillAgain('ALLOCATED', 8n, [RIVAL]));
    expect(sendings.map(({ tx, attempt }) => [tx.id, attempt.nonce, attempt.gasLimit])).toEqual([
      ['fill-8', 8n, 27_500n],
    ]);
  });
});

it('where no no-op is wanted nothing is asked of the chain', async () => {
  const unasked = { feeQuote: () => Promise.reject(new Error('asked for nothing')) } as unknown as ChainConnector;
  expect(await signNoOps.execute(unasked, [LEASE], [])).toEqual([]);
});

it('the tx that was given stays as it was', async () => {
  const slot = fillAgain('ALLOCATED');
  await execute(slot);
  expect([slot.tx.progress.txHash, slot.tx.pendingEvents()]).toEqual([null, []]);
});
