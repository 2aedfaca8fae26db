import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { SecondObservations } from '../../../src/modules/chain/application/second-observations.js';
import type { GasEstimate } from '../../../src/modules/chain/index.js';
import { AskChain, NOTHING_ASKED } from '../../../src/modules/commands/application/ask-chain.js';
import { PriceReplacement } from '../../../src/modules/commands/application/price-replacement.js';
import { FeeRules } from '../../../src/modules/sending/index.js';
import {
  type Attempt,
  type AttemptFees,
  ManagedTxRepository,
  type RequestedTx,
  type TxPayload,
  type TxRequest,
  type TxType,
} from '../../../src/modules/ledger/index.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import {
  aCommand,
  aHash,
  aManagedTx,
  anAddress,
  anAttempt,
  aRequest,
  aSigner,
  FREE_QUOTE,
} from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { gasRules } from '../../support/gas-rules.js';
import { ModelChain } from '../../support/model-chain.js';

const FEES: AttemptFees = { maxFeePerGas: 90n, maxPriorityFeePerGas: 9n };
const CAPS = { maxFeePerGas: 9n, maxPriorityFeePerGas: 9n, maxFeePerBlobGas: 9n };
const SIGNER = aSigner();
const TX = aManagedTx({ txId: 'replacement', signer: SIGNER, replaces: 'tx' }).build();

let chain: ModelChain;
let estimate: GasEstimate | undefined;
let calls: unknown[];
/** Null when the caps do not allow a higher price. */
let outbid: AttemptFees | null;
let bids: unknown[][];
/** Replacements, as they are stored. */
let known: Map<string, RequestedTx>;
let ask: AskChain;
let price: PriceReplacement;

beforeEach(() => {
  chain = new ModelChain();
  [estimate, calls, outbid, bids] = [{ kind: 'ok', gas: 40_000n }, [], FEES, []];
  chain.estimateGas = async (asked) => (calls.push(...asked), estimate ? [estimate] : []);
  known = new Map();
  ask = new AskChain(
    fakeOf(ManagedTxRepository, { requested: async (ids) => ids.flatMap((id) => known.get(id) ?? []) }),
    new SecondObservations(new FakeClock()),
    gasRules(),
    new ExecutionConfig(),
    new RecordingLog(),
  );
  price = new PriceReplacement(
    fakeOf(FeeRules, {
      bumped: (...args) => {
        bids.push(args);
        if (args[0].forGas === 0n) return { kind: 'unaffordable' };
        return outbid ? { kind: 'fees', fees: outbid } : { kind: 'capped', caps: CAPS };
      },
    }),
  );
});

async function priced(
  gasLimit: bigint | null = null,
  ofSlot: readonly Attempt[] = [anAttempt()],
  payload: Partial<TxPayload> = {},
) {
  const base = aRequest();
  const request: TxRequest = { ...base, payload: { ...base.payload, ...payload, gasLimit } };
  known.set(TX.id, { tx: TX, request });
  const said = await ask.execute(chain, [aCommand({ kind: 'replace', replacement: TX.id })]);
  return price.execute({ tx: TX, request }, ofSlot, said);
}

it('a replacement that its client changed after the chain was asked, or of which nothing was asked, waits', async () => {
  const item = { tx: TX, request: aRequest() };
  known.set(TX.id, { ...item, tx: aManagedTx({ ...TX.progress, version: 9 }).build() });
  const said = await ask.execute(chain, [aCommand({ kind: 'replace', replacement: TX.id })]);
  expect(price.execute(item, [anAttempt()], said)).toEqual({ kind: 'later' });
  expect(price.execute(item, [anAttempt()], NOTHING_ASKED)).toEqual({ kind: 'later' });
});

describe('the gas of a replacement', () => {
  it('is its own estimate with a margin', async () => {
    expect(await priced()).toMatchObject({ kind: 'priced', gasLimit: 50_000n });
    const { to, value, data } = aRequest().payload;
    expect(calls).toEqual([{ from: SIGNER.address, to, value, data, accessList: [] }]);
  });

  it('includes that of its blobs and of the authorizations that its client signed', async () => {
    const blobs = { blobHashes: [aHash(3)] };
    const signed = { chainId: 1n, address: anAddress(3), nonce: 0n, yParity: 0, r: aHash(1), s: aHash(2) } as const;
    await priced(null, [anAttempt({ type: 3 })], blobs);
    await priced(null, [anAttempt()], { authorizationList: [signed] });
    expect(calls).toMatchObject([blobs, { authorizationList: [signed] }]);
  });

  it('is what the client set, without a question', async () => {
    expect(await priced(70_000n)).toMatchObject({ kind: 'priced', gasLimit: 70_000n });
    expect(calls).toEqual([]);
  });

  it.each<[GasEstimate, string]>([
    [{ kind: 'reverted', reason: 'not yours' }, 'execution reverted: not yours'],
    [{ kind: 'rejected', message: 'too much gas' }, 'too much gas'],
  ])('that cannot be estimated ends it at a later block, and not at the same one: %j', async (refusal, reason) => {
    estimate = refusal;
    expect([await priced(), await priced()]).toEqual([{ kind: 'later' }, { kind: 'later' }]);
    chain.mineEmpty();
    expect(await priced()).toEqual({ kind: 'refused', reason });
    expect(bids).toEqual([]);
  });

  it('that could not be estimated for another payload says nothing about this one', async () => {
    estimate = { kind: 'reverted', reason: 'not yours' };
    await priced();
    chain.mineEmpty();
    expect(await priced(null, [anAttempt()], { value: 17n })).toEqual({ kind: 'later' });
  });

  it.each<GasEstimate | undefined>([
    { kind: 'unavailable', message: 'no answer' },
    { kind: 'unclear', message: 'what?' },
    { kind: 'insufficient_funds', message: 'no money' },
    undefined,
  ])('that nobody can tell now is asked for again, and never ends it: %j', async (unknown) => {
    estimate = unknown;
    for (let i = 0; i < 3; i += 1) {
      expect(await priced()).toEqual({ kind: 'later' });
      chain.mineEmpty();
    }
  });
});

describe('the price of a replacement', () => {
  it('is above everything that may be out for its slot, and names its block', async () => {
    chain.mineEmpty(3);
    const cheap = anAttempt({ fees: { maxFeePerGas: 50n, maxPriorityFeePerGas: 1n } });
    const dear = anAttempt({ fees: { maxFeePerGas: 40n, maxPriorityFeePerGas: 8n } });
    const quote = await chain.feeQuote();
    expect(await priced(21_000n, [cheap, dear])).toEqual({
      kind: 'priced',
      fees: FEES,
      type: 2,
      gasLimit: 21_000n,
      pricedAtBlock: quote.blockNumber,
    });
    expect(bids).toMatchObject([
      [{ signer: SIGNER, request: { requestId: 'request-1' }, attempts: [cheap, dear], because: 'forced' }, quote],
    ]);
  });

  it.each<[TxType, Partial<TxPayload>, TxType]>([
    [0, {}, 0],
    [2, { authorizationList: [{ chainId: 1n, address: anAddress(3), signer: SIGNER.address }] }, 4],
    [4, {}, 2],
    [3, { blobHashes: [aHash(3)] }, 3],
  ])('is that of a type that pools take in place of type %j: with %j', async (out, payload, type) => {
    const refused = anAttempt({ type: 2, status: 'REJECTED' });
    expect(await priced(21_000n, [anAttempt({ type: out, status: 'ACCEPTED' }), refused], payload)).toMatchObject({
      type,
    });
    expect(bids).toMatchObject([[{ type }, {}]]);
  });

  it('ends it when the caps do not allow it', async () => {
    outbid = null;
    expect(await priced(21_000n)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('above the caps') });
  });

  it('is refused where gas is free, and the account has no more than the value', async () => {
    chain.feeQuote = async () => FREE_QUOTE;
    chain.balances = async () => [9n];
    const reason = 'gas is free, and the balance of the signer does not cover a price above 0';
    expect(await priced(21_000n, [anAttempt()], { value: 9n })).toEqual({ kind: 'refused', reason });
    expect(await priced(21_000n, [anAttempt()], { value: 8n })).toMatchObject({ kind: 'priced' });
  });
});
