import { beforeEach, describe, expect, it } from '@jest/globals';
import { ResubmitConfig } from '../../../src/config/index.js';
import type { AttemptDraft } from '../../../src/modules/sending/application/attempt-signer.js';
import { FeeRules } from '../../../src/modules/sending/application/fee-rules.js';
import { type RefusedTx, RepricePayloads } from '../../../src/modules/sending/application/reprice-payloads.js';
import type { Sending } from '../../../src/modules/sending/application/send.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { ManagedTxRepository, type Attempt, type AttemptFees } from '../../../src/modules/ledger/index.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { ReservedFees } from '../../../src/modules/sending/application/reserved-fees.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, aManagedTx, anAttempt, aRequest, aSigner, DEV_CHAIN, aFeeQuote } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';

const LEASE = { signer: aSigner(), owner: 'node', token: 1n };
const OTHER_LEASE = { signer: aSigner(2), owner: 'node', token: 2n };
const MARKET: AttemptFees = { maxFeePerGas: 50n, maxPriorityFeePerGas: 5n };
const HIGHER: AttemptFees = { maxFeePerGas: 60n, maxPriorityFeePerGas: 6n };
const LOWER: AttemptFees = { maxFeePerGas: 40n, maxPriorityFeePerGas: 4n };
const CAPS = { maxFeePerGas: 9n, maxPriorityFeePerGas: 9n, maxFeePerBlobGas: 9n };
/** Refused as too cheap. */
const REFUSED: Partial<Attempt> = { txId: 'tx', status: 'REJECTED', errorClass: 'underpriced', pricedAtBlock: 42 };
/** Refused for a price that a node calls too high for one transaction. */
const TOO_MUCH: Partial<Attempt> = { ...REFUSED, errorClass: 'node_fee_cap_exceeded' };

/** Null while the caps of the chain allow no price at all. */
let market: AttemptFees | null;
let higher: AttemptFees | null;
/** Each price that was asked for, with the one that it has to differ from. */
let asked: [string, bigint][];
let writes: RecordedWrites;
let reprice: RepricePayloads;

beforeEach(() => {
  [market, higher, asked, writes] = [MARKET, HIGHER, [], new RecordedWrites()];
  const fees = fakeOf(FeeRules, {
    capsOf: () => CAPS,
    price: (_caps, { gasLimit }) => {
      asked.push(['market', gasLimit]);
      return market === null ? { tooExpensive: 'too dear', limitedBy: 'chain' } : { fees: market };
    },
    bumped: ({ attempts, because }) => {
      asked.push([JSON.stringify(because), attempts.at(-1)?.fees.maxFeePerGas ?? 0n]);
      return higher === null ? { kind: 'capped', caps: CAPS } : { kind: 'fees', fees: higher };
    },
    lower: (_caps, { fees: { maxFeePerGas } }) => (asked.push(['lower', maxFeePerGas]), LOWER),
  });
  reprice = new RepricePayloads(
    {
      sign: async (drafts: readonly AttemptDraft[]) => drafts.map((draft) => anAttempt({ ...draft, txHash: aHash(9) })),
    },
    fees,
    writes.asDoor(),
    fakeOf(ManagedTxRepository, {
      requested: async (ids) => ids.map((txId) => ({ tx: aTx({ txId }), request: aRequest() })),
    }),
    Object.assign(new ResubmitConfig(), { maxRefusals: 3 }),
    fakeOf(ReservedFees, { of: async () => new Map() }),
  );
});

const WORDS = 'gas tip cap 1, minimum needed 6';
const aTx = (progress: Partial<TxProgress> = {}) =>
  aManagedTx({ txId: 'tx', lastError: WORDS, state: 'ALLOCATED', nonce: 7n, gasLimit: 21_000n, ...progress }).build();

type Refused = Omit<RefusedTx, 'ofSlot'> & Partial<RefusedTx>;

function repriced(...refused: readonly Refused[]): Promise<Sending[]> {
  const chain = fakeOf(EthersChainConnector, { chainId: DEV_CHAIN, feeQuote: async () => aFeeQuote() });
  const alone = refused.map((item) => ({ ofSlot: item.attempts, ...item }));
  return reprice.execute(chain, [LEASE, OTHER_LEASE], alone);
}

async function pricesAfter(...attempts: readonly Partial<Attempt>[]): Promise<bigint[]> {
  const sendings = await repriced({ tx: aTx(), attempts: attempts.map((attempt) => anAttempt(attempt)) });
  return sendings.map(({ attempt }) => attempt.fees.maxFeePerGas);
}

describe('a payload that every node refused for its price', () => {
  it('is signed again at the price that its attempts, and the words of the node, ask for', async () => {
    expect(await pricesAfter(REFUSED, { ...REFUSED, fees: LOWER })).toEqual([HIGHER.maxFeePerGas]);
    expect(asked).toEqual([
      ['market', 21_000n],
      [JSON.stringify({ refusal: WORDS }), LOWER.maxFeePerGas],
    ]);
  });

  it('keeps its bytes while the caps allow no higher price', async () => {
    higher = null;
    expect(await pricesAfter(REFUSED)).toEqual([]);
  });

  it('is stored with its new bytes before it is given away, under the lease of its signer', async () => {
    const [sending, ...others] = await repriced({ tx: aTx(), attempts: [anAttempt(REFUSED)] });
    expect(writes.written).toEqual([
      {
        operation: 'reprice',
        tokens: [1n],
        changes: { attempts: { inserted: [sending?.attempt] }, noted: [sending?.tx], txs: [] },
      },
    ]);
    expect(sending?.attempt).toMatchObject({ txId: 'tx', nonce: 7n, kind: 'payload', fees: HIGHER });
    expect([sending?.tx.progress.txHash, others]).toEqual([aHash(9), []]);
  });

  it('is not while any of its bytes may be out: the lower price could never replace them', async () => {
    for (const status of ['SIGNED', 'UNKNOWN', 'ACCEPTED'] as const)
      expect(await pricesAfter({ status }, REFUSED)).toEqual([]);
  });

  it('is not as often as refusals are allowed', async () => {
    expect(await pricesAfter(REFUSED, REFUSED, REFUSED)).toEqual([]);
  });

  it('is not once it was in the mempool, nor when it was not the price, nor before its first answer', async () => {
    expect(await repriced({ tx: aTx({ state: 'IN_MEMPOOL' }), attempts: [anAttempt(REFUSED)] })).toEqual([]);
    expect(await pricesAfter({ ...REFUSED, errorClass: 'oversized_data' })).toEqual([]);
    expect(await pricesAfter(REFUSED, { ...REFUSED, errorClass: 'oversized_data' })).toEqual([]);
    expect(await pricesAfter({ status: 'REJECTED', errorClass: null })).toEqual([]);
    expect(await pricesAfter()).toEqual([]);
  });

  it('is not when it is a fill: whoever signs no-ops outbids what may be out', async () => {
    expect(await repriced({ tx: aTx({ kind: 'fill' }), attempts: [anAttempt(REFUSED)] })).toEqual([]);
  });

  it('is not while the caps of the chain allow no price', async () => {
    market = null;
    expect(await pricesAfter(REFUSED)).toEqual([]);
  });

  it('has its own attempts looked at, and not those of its neighbour', async () => {
    const [cheap, dear] = [anAttempt({ ...REFUSED, fees: LOWER }), anAttempt({ ...TOO_MUCH, fees: HIGHER })];
    await repriced({ tx: aTx({ txId: 'a' }), attempts: [dear] }, { tx: aTx({ txId: 'b' }), attempts: [cheap] });
    expect(writes.inserted.map(({ txId, fees }) => [txId, fees])).toEqual([
      ['a', MARKET],
      ['b', HIGHER],
    ]);
  });
});

describe('a payload that competes for its slot', () => {
  const rival = anAttempt({
    txId: 'original',
    txHash: aHash(5),
    status: 'ACCEPTED',
    fees: { ...MARKET, maxFeePerGas: 55n },
  });
  const against = async (own: Partial<Attempt>, other: Attempt = rival): Promise<bigint[]> => {
    const attempts = [anAttempt(own)];
    const sendings = await repriced({ tx: aTx(), attempts, ofSlot: [...attempts, other] });
    return sendings.map(({ attempt }) => attempt.fees.maxFeePerGas);
  };

  it('is priced above its rivals, which no lower price could replace', async () => {
    expect(await against({ ...REFUSED, fees: LOWER })).toEqual([HIGHER.maxFeePerGas]);
    expect(asked.at(-1)).toEqual([JSON.stringify({ refusal: WORDS }), 55n]);
  });

  it('is never priced down while a rival is out, although it was refused as too dear', async () => {
    for (const status of ['SIGNED', 'UNKNOWN', 'ACCEPTED'] as const) {
      expect(await against({ ...TOO_MUCH, fees: MARKET }, { ...rival, status })).toEqual([HIGHER.maxFeePerGas]);
      expect(asked.at(-1)).toEqual([JSON.stringify('forced'), 55n]);
    }
    expect(await against({ ...TOO_MUCH, fees: MARKET }, { ...rival, status: 'REJECTED' })).toEqual([
      LOWER.maxFeePerGas,
    ]);
  });

  it('keeps its bytes when it cannot be dearer than its rival, or was refused at that price', async () => {
    expect(await against({ ...TOO_MUCH, fees: HIGHER })).toEqual([]);
    higher = null;
    expect(await against({ ...TOO_MUCH, fees: MARKET })).toEqual([]);
  });
});

describe('a payload that was refused as too dear for one transaction', () => {
  it('is signed at the price of the market, where that is another one in either part', async () => {
    for (const other of [{ maxFeePerGas: 51n }, { maxPriorityFeePerGas: 6n }])
      expect(await pricesAfter({ ...TOO_MUCH, fees: { ...MARKET, ...other } })).toEqual([MARKET.maxFeePerGas]);
  });

  it('is signed at a lower price than the market when that was refused', async () => {
    expect(await pricesAfter({ ...TOO_MUCH, fees: MARKET })).toEqual([LOWER.maxFeePerGas]);
    expect(asked.at(-1)).toEqual(['lower', MARKET.maxFeePerGas]);
  });

  it('keeps its bytes when the lower price was refused, too', async () => {
    expect(await pricesAfter({ ...TOO_MUCH, fees: LOWER }, { ...TOO_MUCH, fees: MARKET })).toEqual([]);
  });
});
