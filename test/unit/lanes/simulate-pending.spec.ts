import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import type { GasEstimate } from '../../../src/modules/chain/index.js';
import type { FeeRules, Priced } from '../../../src/modules/sending/application/fee-rules.js';
import { SimulatePending } from '../../../src/modules/lanes/application/simulate-pending.js';
import { EstimatePending } from '../../../src/modules/lanes/application/estimate-pending.js';
import { DailyRoom } from '../../../src/modules/lanes/application/daily-room.js';
import { CoverCosts, type KnownBalances } from '../../../src/modules/lanes/application/cover-costs.js';
import type { PoolTurns } from '../../../src/modules/lanes/application/pool-turns.js';
import type { RevertedEstimates } from '../../../src/modules/lanes/application/reverted-estimates.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import type { TxRequest } from '../../../src/modules/ledger/domain/tx-request.js';
import { aManagedTx, anAddress, aRequest, aSigner } from '../../support/builders.js';
import { realPause } from '../../../src/platform/scheduling/pause.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { aMadePermit, aPermit } from '../../support/permit-builders.js';
import { gasRules } from '../../support/gas-rules.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ModelChain } from '../../support/model-chain.js';
import { type PendingTx } from '../../../src/modules/ledger/domain/tx-queue.js';

const MAX_TX_GAS = 1n << 24n;
const PRICE = 3n;
/** After tries with pauses of 2, 4 and 8 s. */
const GIVE_UP_MS = 14_000;

let chain: ModelChain;
let doomed: Set<string>;
let priced: Priced;
let balance: bigint;
/** What the balances were asked to cover. */
let refreshed: unknown[];
/** Payloads that would get a nonce, if it is their turn. */
let offered: string[];
let outOfTurn: Set<string>;
let config: ExecutionConfig;
let judge: SimulatePending;

beforeEach(() => {
  chain = new ModelChain();
  doomed = new Set();
  refreshed = [];
  [offered, outOfTurn] = [[], new Set()];
  priced = { fees: { maxFeePerGas: PRICE, maxPriorityFeePerGas: 1n } };
  balance = 10n ** 30n;
  config = Object.assign(new ExecutionConfig(), { giveUpAfter: GIVE_UP_MS });
  judge = new SimulatePending(
    { capsOf: () => null, price: () => priced } as unknown as FeeRules,
    gasRules(),
    new CoverCosts(
      {
        refresh: async (_chain: unknown, wanted: readonly unknown[]) => void refreshed.push(...wanted),
        has: () => true,
        covers: (_signer: unknown, wei: bigint) => wei <= balance,
        take: (_signer: unknown, wei: bigint) => {
          if (balance < wei) return false;
          balance -= wei;
          return true;
        },
      } as unknown as KnownBalances,
      fakeOf(DailyRoom, { lacking: async () => new Map() }),
    ),
    new EstimatePending({ proven: async () => doomed } as unknown as RevertedEstimates, new FakeClock(), {
      pause: realPause,
    }),
    {
      waiting: async (ready: readonly PendingTx[]) => (offered.push(...ready.map(({ tx }) => tx.id)), outOfTurn),
    } as unknown as PoolTurns,
    config,
  );
});

function pending(
  progress: Partial<TxProgress> = {},
  { expired = false, ...request }: Partial<TxRequest> & { expired?: boolean } = {},
): PendingTx {
  return {
    tx: aManagedTx(progress).build(),
    request: aRequest(request),
    expired,
    wasTried: false,
    isStopped: false,
    lacksPermit: false,
  };
}

/** What is written of a tx, or the gas that it is ready with. */
async function judged(item: PendingTx): Promise<object> {
  const [verdict] = await judge.execute(chain, [item]);
  if (verdict?.kind === 'ready') return { gas: verdict.gasLimit, cost: verdict.cost };
  if (verdict?.kind !== 'not_now') throw new Error('it is parked');
  verdict.apply(item.tx);
  const { state, subState, failureReason } = item.tx.progress;
  return { state, subState, failureReason, timers: item.tx.timers.resubmit };
}

function estimate(gas: GasEstimate): void {
  chain.faults.estimate = () => gas;
}

describe('the gas of a payload', () => {
  it.each([
    [100_000n, 125_000n],
    [MAX_TX_GAS - 1n, MAX_TX_GAS],
    [MAX_TX_GAS, MAX_TX_GAS],
    [MAX_TX_GAS + 1n, 20_971_521n],
  ])('that is estimated as %p is %p', async (gas, expected) => {
    estimate({ kind: 'ok', gas });
    expect(await judged(pending())).toEqual({ gas: expected, cost: 1n + expected * PRICE });
  });

  it('is what the client said, and then nobody is asked', async () => {
    chain.faults.estimate = () => {
      throw new Error('asked');
    };
    const payload = { ...aRequest().payload, gasLimit: 50_000n };
    expect(await judged(pending({}, { payload }))).toEqual({ gas: 50_000n, cost: 1n + 50_000n * PRICE });
  });
});

it('costs its L1 data fee, too, on a rollup', async () => {
  estimate({ kind: 'ok', gas: 100_000n });
  chain.l1DataFee = 70n;
  expect(await judged(pending())).toMatchObject({ cost: 1n + 125_000n * PRICE + 70n });
  balance = 125_000n * PRICE + 70n;
  expect(await judged(pending())).toMatchObject({ state: 'PENDING', subState: 'INSUFFICIENT_FUNDS' });
});

describe('a payload that cannot be sent now', () => {
  it.each<[GasEstimate, string, number]>([
    [{ kind: 'reverted', reason: 'no' }, 'SIMULATION_REVERTED', 2_000],
    [{ kind: 'rejected', message: 'no' }, 'SIMULATION_REVERTED', 2_000],
    [{ kind: 'insufficient_funds', message: 'no' }, 'INSUFFICIENT_FUNDS', 5_000],
    [{ kind: 'unclear', message: 'no' }, 'NODE_REFUSED', 2_000],
    [{ kind: 'unavailable', message: 'no' }, 'NODE_UNAVAILABLE', 2_000],
  ])('for %j waits as %s', async (gas, subState, inMs) => {
    estimate(gas);
    expect(await judged(pending())).toMatchObject({ state: 'PENDING', subState, timers: { inMs } });
  });

  it('waits longer with each try that comes to the same', async () => {
    estimate({ kind: 'unavailable', message: 'no' });
    expect(await judged(pending({ subState: 'NODE_UNAVAILABLE', tries: 2 }))).toMatchObject({
      timers: { inMs: 8_000 },
    });
    expect(await judged(pending({ subState: 'FEE_CAPPED', tries: 2 }))).toMatchObject({ timers: { inMs: 2_000 } });
  });

  it.each<GasEstimate>([
    { kind: 'reverted', reason: 'no' },
    { kind: 'rejected', message: 'no' },
  ])('fails when it is doomed: %j', async (gas) => {
    estimate(gas);
    const item = pending();
    doomed.add(item.tx.id);
    expect(await judged(item)).toMatchObject({ state: 'FAILED' });
  });

  it('is given up when it was tried for giveUpAfter, and not a try sooner', async () => {
    estimate({ kind: 'unclear', message: 'no' });
    const [before, then] = [2, 3].map((tries) => pending({ subState: 'NODE_REFUSED', tries }));
    expect(before && (await judged(before))).toMatchObject({ state: 'PENDING' });
    expect(then && (await judged(then))).toMatchObject({ state: 'FAILED', failureReason: 'refused 4 times: no' });
    Object.assign(config, { giveUpAfter: GIVE_UP_MS + 1 });
    expect(await judged(pending({ subState: 'NODE_REFUSED', tries: 3 }))).toMatchObject({ state: 'PENDING' });
  });

  it('is never given up for a node that does not answer, nor for want of money', async () => {
    for (const [kind, subState] of [
      ['unavailable', 'NODE_UNAVAILABLE'],
      ['insufficient_funds', 'INSUFFICIENT_FUNDS'],
    ] as const) {
      estimate({ kind, message: 'no' });
      expect(await judged(pending({ subState, tries: 1_000 }))).toMatchObject({ state: 'PENDING' });
    }
  });

  it.each([
    ['chain', 'FEE_CAPPED'],
    ['node', 'NODE_REFUSED'],
  ] as const)('for the caps of the %s waits as %s', async (limitedBy, subState) => {
    priced = { tooExpensive: 'too dear', limitedBy };
    expect(await judged(pending())).toMatchObject({ state: 'PENDING', subState });
  });

  it('is dropped when it has expired, and nobody is asked for its gas', async () => {
    chain.faults.estimate = () => {
      throw new Error('asked');
    };
    expect(await judged(pending({}, { expired: true }))).toMatchObject({ state: 'DROPPED' });
  });
});

describe('the chain is asked', () => {
  it('for the gas of just what the client wants executed, by its signer', async () => {
    const calls: unknown[] = [];
    chain.faults.estimate = (call) => (calls.push(call), undefined);
    const { gasLimit: _, ...payload } = {
      ...aRequest().payload,
      accessList: [{ address: anAddress(3), storageKeys: [] }],
    };
    await judged(pending({}, { payload: { ...payload, gasLimit: null } }));
    expect(calls).toEqual([{ from: aSigner().address, ...payload }]);
  });

  it('for balances that cover all that is ready of each signer, and for none of what is not', async () => {
    const [mine, theirs] = [aSigner(1), aSigner(2)];
    const payload = { ...aRequest().payload, value: 1n, gasLimit: 10n };
    await judge.execute(chain, [
      pending({ txId: 'a', signer: mine }, { payload }),
      pending({ txId: 'b', signer: theirs }, { payload }),
      pending({ txId: 'c', signer: mine }, { payload }),
      pending({ txId: 'd', signer: mine }, { payload, expired: true }),
    ]);
    expect(refreshed).toEqual([
      { signer: mine, wei: 62n },
      { signer: theirs, wei: 31n },
    ]);
  });

  it('for nothing when nothing waits', async () => {
    chain.feeQuote = () => Promise.reject(new Error('asked'));
    expect(await judge.execute(chain, [])).toEqual([]);
  });
});

it('a payload for which the node gives no estimate waits for a node', async () => {
  chain.estimateGas = async () => [];
  expect(await judged(pending())).toMatchObject({ state: 'PENDING', subState: 'NODE_UNAVAILABLE' });
});

it('says in the words of the chain why it reverts', async () => {
  estimate({ kind: 'reverted', reason: 'paused' });
  const item = pending();
  doomed.add(item.tx.id);
  expect(await judged(item)).toMatchObject({ failureReason: 'execution reverted: paused' });
});

it('a payload waits for the authorizations of other signers before anybody is asked for its gas', async () => {
  chain.faults.estimate = () => {
    throw new Error('asked');
  };
  const target = { chainId: 0n, address: anAddress(3), authority: aSigner(2).address };
  const payload = { ...aRequest().payload, gasLimit: null, authorizationList: [target] };
  const item = pending({}, { payload });
  expect(await judged(item)).toEqual({
    state: 'PENDING',
    subState: null,
    failureReason: null,
    timers: { inMs: 5_000 },
  });
  expect(item.tx.progress.lastError).toContain(aSigner(2).address);
  expect(offered).toEqual([]);
  estimate({ kind: 'ok', gas: 100_000n });
  const signed = { ...target, nonce: 7n, yParity: 0, r: '0x01', s: '0x02' } as const;
  expect(await judged(pending({}, { payload: { ...payload, authorizationList: [signed] } }))).toMatchObject({
    gas: 125_000n,
  });
});

describe('a payload without money or without a price', () => {
  const target = { chainId: 0n, address: anAddress(3), authority: aSigner(2).address };
  const payload = { ...aRequest().payload, authorizationList: [target] };

  it('waits for these, and not for authorizations: nobody is held back for it', async () => {
    balance = 0n;
    expect(await judged(pending({}, { payload }))).toMatchObject({ subState: 'INSUFFICIENT_FUNDS' });
    priced = { tooExpensive: 'above the caps', limitedBy: 'chain' };
    expect(await judged(pending({}, { payload }))).toMatchObject({ subState: 'FEE_CAPPED' });
  });
});

describe('the turn of a payload', () => {
  it('is asked for what would get a nonce; what has to wait takes nothing from the balance and is tried soon', async () => {
    outOfTurn = new Set(['waits']);
    const verdicts = await judge.execute(chain, [
      pending({ txId: 'waits' }),
      pending({ txId: 'goes' }),
      pending({ txId: 'late' }, { expired: true }),
    ]);
    expect(offered).toEqual(['waits', 'goes']);
    expect(verdicts.map(({ kind }) => kind)).toEqual(['not_now', 'ready', 'not_now']);
    expect(refreshed).toHaveLength(1);
    expect(await judged(pending({ txId: 'waits' }))).toMatchObject({ state: 'PENDING', subState: null });
  });
});

describe('a payload with a permit', () => {
  const [owner, contract] = [anAddress(2), anAddress(0x70)];
  const made = aPermit({ owner, contract, made: aMadePermit({ permitNonce: 7n }) });
  const permitting = (permit = made, gasLimit: bigint | null = null): PendingTx =>
    pending({}, { payload: { ...aRequest().payload, gasLimit, permits: [permit] } });
  const WAITS = { state: 'PENDING', subState: null, failureReason: null, timers: { inMs: 5_000 } };
  const next = (nonce: bigint) => chain.permitNonceOf.set(`${contract} ${owner}`, nonce);

  it.each([null, 90_000n])('waits for its owner until it is made, with a gas limit of %p', async (gasLimit) => {
    estimate({ kind: 'ok', gas: 80_000n });
    next(7n);
    expect(await judged(permitting(aPermit({ owner, contract }), gasLimit))).toEqual(WAITS);
    expect(await judged({ ...permitting(made, gasLimit), lacksPermit: true })).toEqual(WAITS);
    const gas = gasLimit ?? 100_000n;
    expect(await judged(permitting(made, gasLimit))).toEqual({ gas, cost: 1n + gas * PRICE });
  });

  it.each([null, 90_000n])('waits, and does not fail, when the nonce of its permit is used (%p)', async (gasLimit) => {
    const item = permitting(made, gasLimit);
    doomed.add(item.tx.id);
    estimate({ kind: 'reverted', reason: 'invalid signer' });
    next(8n);
    expect(await judged(item)).toEqual(WAITS);
    expect(item.tx.progress.lastError).toBe(`waits until ${owner} has signed its permit`);
  });

  it('is looked at less and less often while it waits for its owner', async () => {
    const item = permitting(aPermit({ owner, contract }));
    const pauses: unknown[] = [];
    for (let look = 0; look < 6; look += 1) pauses.push(((await judged(item)) as { timers: unknown }).timers);
    // One that has to be made anew is looked at by its owner shortly before its tx is due.
    expect(await judged({ ...item, request: permitting().request, lacksPermit: true })).toEqual(WAITS);
    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000].map((inMs) => ({ inMs })));
  });

  it('is tried again when nobody tells the nonce of its permit', async () => {
    estimate({ kind: 'ok', gas: 80_000n });
    expect(await judged(permitting())).toMatchObject({ state: 'PENDING', subState: 'NODE_UNAVAILABLE' });
  });

  it('that reverts with the right permit fails as others do, unless its client has set the gas', async () => {
    const items = [permitting(), permitting(made, 90_000n)] as const;
    for (const { tx } of items) doomed.add(tx.id);
    estimate({ kind: 'reverted', reason: 'no' });
    next(7n);
    expect(await judged(items[0])).toMatchObject({ state: 'FAILED', failureReason: 'execution reverted: no' });
    expect(await judged(items[1])).toMatchObject({ gas: 90_000n });
  });
});
