import { beforeEach, describe, expect, it } from '@jest/globals';
import { ResubmitConfig } from '../../../src/config/index.js';
import type { NodeErrorClass } from '../../../src/kernel/node-error-class.js';
import type { SlotRef } from '../../../src/modules/signers/index.js';
import type { FeeRules } from '../../../src/modules/sending/application/fee-rules.js';
import { ClassifySends } from '../../../src/modules/sending/application/classify-sends.js';
import { type LearnPoolLimits, type LimitedSends } from '../../../src/modules/sending/application/refusal-evidence.js';
import type { AnsweredSend } from '../../../src/modules/sending/application/send.js';
import type { Attempt, AttemptOutcome } from '../../../src/modules/ledger/domain/attempt.js';
import type { AttemptRepository } from '../../../src/modules/ledger/index.js';
import { refusalEvidence } from '../../support/refusals.js';
import { aHash, aManagedTx, anAttempt, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { ModelChain } from '../../support/model-chain.js';

const INTERVAL = 60_000;
const MAX_REFUSALS = 3;

let clock: FakeClock;
let chain: ModelChain;
let learned: string[];
/** All attempts of the slots that are asked for. */
let siblings: Attempt[];
/** Nonces of the slots whose attempts were asked for. */
let asked: bigint[];
let limited: LimitedSends;
/** Wei that all txs in flight of each signer may cost; the model chain gives every account 1,000 ether. */
let committed: bigint;
let judge: ClassifySends;

beforeEach(() => {
  clock = new FakeClock();
  chain = new ModelChain();
  learned = [];
  siblings = [];
  asked = [];
  limited = { waiting: new Set(), passed: new Set() };
  committed = 2_000n * 10n ** 18n;
  const config = Object.assign(new ResubmitConfig(), {
    interval: INTERVAL,
    maxRefusals: MAX_REFUSALS,
    maxRefusalsInDoubt: MAX_REFUSALS,
  });
  judge = new ClassifySends(
    {
      ofSlots: async (slots: readonly SlotRef[]) => (asked.push(...slots.map(({ nonce }) => nonce)), siblings),
    } as unknown as AttemptRepository,
    refusalEvidence(() => committed, config, clock),
    { learnLimit: (_chain: number, words: string) => void learned.push(words) } as unknown as FeeRules,
    { execute: async () => limited } as unknown as LearnPoolLimits,
    config,
    clock,
  );
});

function answered(
  errorClass: NodeErrorClass | null,
  outcome: Partial<AttemptOutcome> = {},
  { attempt = anAttempt(), tx = aManagedTx().allocated().build() }: Partial<AnsweredSend> = {},
): AnsweredSend {
  const error = errorClass;
  const status = errorClass === null ? 'ACCEPTED' : 'REJECTED';
  return { tx, attempt, outcome: { attempt, status, errorClass, error, notSent: false, alone: false, ...outcome } };
}

/** In the mempool, and answered so often in a row already. */
function sentBefore(subState: 'OUTCOME_UNKNOWN' | 'NONCE_SYNC', tries: number): Pick<AnsweredSend, 'tx'> {
  return { tx: aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n, subState, tries }).build() };
}

async function kindOf(send: AnsweredSend): Promise<string | undefined> {
  return (await judge.execute(chain, [send]))[0]?.verdict.kind;
}

describe('a missing answer', () => {
  const missing = (tries = MAX_REFUSALS): AnsweredSend =>
    answered('transient', { status: 'UNKNOWN' }, sentBefore('OUTCOME_UNKNOWN', tries));

  it('is about this transaction when the chain took another one within two rounds of resends', async () => {
    clock.advance(INTERVAL);
    await judge.execute(chain, [answered(null)]);
    clock.advance(2 * INTERVAL);
    expect(await kindOf(missing())).toBe('refused');
    clock.advance(1);
    expect(await kindOf(missing())).toBe('sent');
  });

  it('is about this transaction when a pool has just compared another one with what it has', async () => {
    await judge.execute(chain, [answered('transient', { status: 'UNKNOWN' })]);
    expect(await kindOf(missing())).toBe('sent');
    await judge.execute(chain, [answered('replacement_underpriced', { status: 'UNKNOWN' })]);
    expect(await kindOf(missing())).toBe('refused');
  });

  it('ends nothing before the chain took any, nor before so many', async () => {
    expect(await kindOf(missing())).toBe('sent');
    await judge.execute(chain, [answered(null)]);
    expect([await kindOf(missing(MAX_REFUSALS - 2)), await kindOf(missing(MAX_REFUSALS - 1))]).toEqual([
      'sent',
      'refused',
    ]);
  });
});

describe('a refusal for a limit of the pool', () => {
  const tx = () => aManagedTx({ state: 'ALLOCATED', nonce: 7n, subState: 'POOL_LIMIT', tries: MAX_REFUSALS }).build();
  const full = (): AnsweredSend => answered('txpool_full', {}, { tx: tx() });

  it('ends the wait for a pool only when the chain took another transaction, and not when it had it already', async () => {
    expect(await kindOf(full())).toBe('waiting');
    const { attempt } = answered(null);
    await judge.execute(chain, [answered('already_known', { attempt, status: 'ACCEPTED', error: null })]);
    expect(await kindOf(full())).toBe('waiting');
    await judge.execute(chain, [answered(null)]);
    clock.advance(2 * INTERVAL);
    expect(await kindOf(full())).toBe('refused');
    clock.advance(1);
    expect(await kindOf(full())).toBe('waiting');
  });

  it('ends nothing behind lower nonces of its signer', async () => {
    await judge.execute(chain, [answered(null)]);
    const send = full();
    limited = { ...limited, waiting: new Set([send]) };
    expect(await kindOf(send)).toBe('waiting');
  });

  it('ends the wait when the pool has a higher nonce of its signer', async () => {
    const send = full();
    limited = { ...limited, passed: new Set([send]) };
    expect(await kindOf(send)).toBe('refused');
  });
});

describe('a nonce that is called used', () => {
  const called = (tries: number): AnsweredSend => {
    const { address } = aSigner();
    const attempt = anAttempt({ signer: { chainId: chain.chainId, address }, nonce: 0n });
    return answered('nonce_too_low', { attempt, status: 'UNKNOWN' }, { attempt, ...sentBefore('NONCE_SYNC', tries) });
  };

  it('and that the chain has not used has its slot closed after so many', async () => {
    expect([await kindOf(called(MAX_REFUSALS - 2)), await kindOf(called(MAX_REFUSALS - 1))]).toEqual([
      'sent',
      'refused',
    ]);
  });

  it('is a question still when the chain has used it, and when too few endpoints tell', async () => {
    chain.sendForeign(aSigner().address, 0n);
    chain.mine();
    expect(await kindOf(called(MAX_REFUSALS))).toBe('sent');
    chain.agreedCounts = async () => [null];
    expect(await kindOf(called(MAX_REFUSALS))).toBe('sent');
  });

  it('is free at the very count of the chain, and used below it', async () => {
    const attempt = anAttempt({ nonce: 7n });
    const send = answered(
      'nonce_too_low',
      { attempt, status: 'UNKNOWN' },
      { attempt, ...sentBefore('NONCE_SYNC', 99) },
    );
    const kinds = [];
    for (const nonce of [6n, 7n, 8n]) {
      chain.agreedCounts = async () => [{ nonce, block: { number: 1, hash: aHash(1) } }];
      kinds.push(await kindOf(send));
    }
    expect(kinds).toEqual(['refused', 'refused', 'sent']);
  });

  it('costs no question before', async () => {
    chain.agreedCounts = () => Promise.reject(new Error('asked too soon'));
    expect(await kindOf(called(MAX_REFUSALS - 2))).toBe('sent');
  });
});

describe('a refusal for good of one endpoint alone', () => {
  const alone = (): AnsweredSend => answered('oversized_data', { alone: true });

  it('is believed at a later block, and not at the same one', async () => {
    expect([await kindOf(alone()), await kindOf(alone())]).toEqual(['waiting', 'waiting']);
    chain.mineEmpty();
    expect(await kindOf(alone())).toBe('refused');
  });

  it('says nothing any more when the transaction was taken in between', async () => {
    await kindOf(alone());
    await kindOf(answered(null));
    chain.mineEmpty();
    expect(await kindOf(alone())).toBe('waiting');
  });

  it('is believed at once where all endpoints said it', async () => {
    expect(await kindOf(answered('oversized_data'))).toBe('refused');
  });
});

it('a refusal for good closes the slot, whatever else was signed for it: a node may have kept what it refused', async () => {
  for (const status of ['SIGNED', 'ACCEPTED', 'UNKNOWN', 'REJECTED', 'UNSENT'] as const) {
    siblings = [anAttempt({ status: 'REJECTED' }), anAttempt({ txHash: aHash(2), status })];
    expect(await kindOf(answered('oversized_data'))).toBe('refused');
    expect(await kindOf(answered('oversized_data', {}, sentBefore('OUTCOME_UNKNOWN', 0)))).toBe('refused');
  }
});

describe('a no-op', () => {
  const verdictOn = async (attempt: Attempt, tx: AnsweredSend['tx'], errorClass: NodeErrorClass | null) =>
    (await judge.execute(chain, [answered(errorClass, { attempt }, { attempt, tx })]))[0]?.verdict;

  it('that closes a slot never ends its tx', async () => {
    const closing = { as: 'FAILED', reason: 'oversized', won: false } as const;
    const tx = aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n, closing }).build();
    const waits = { kind: 'waiting', subState: 'CANCELLING', retryInMs: INTERVAL };
    expect(await verdictOn(anAttempt({ kind: 'cancel' }), tx, 'oversized_data')).toEqual(waits);
  });

  it('of a fill is signed anew after a pause that grows, and never ends it or frees its slot', async () => {
    const refused = async (errorClass: NodeErrorClass, subState: 'FEE_CAPPED' | 'NODE_REFUSED', tries: number) => {
      const tx = aManagedTx({ kind: 'fill', state: 'ALLOCATED', nonce: 7n, subState, tries }).build();
      return verdictOn(anAttempt({ kind: 'fill' }), tx, errorClass);
    };
    const waits = { kind: 'waiting', subState: 'NODE_REFUSED' };
    expect(await refused('oversized_data', 'NODE_REFUSED', 0)).toEqual({ ...waits, retryInMs: 2_000 });
    expect(await refused('oversized_data', 'NODE_REFUSED', 2)).toEqual({ ...waits, retryInMs: 8_000 });
    expect(await refused('underpriced', 'FEE_CAPPED', 99)).toEqual({ ...waits, retryInMs: 2_000 });
    expect(asked).toEqual([]);
  });

  it('of a fill that the balance does not cover waits for a top-up', async () => {
    const tx = aManagedTx({ kind: 'fill', state: 'ALLOCATED', nonce: 7n, subState: 'INSUFFICIENT_FUNDS', tries: 99 });
    expect(await verdictOn(anAttempt({ kind: 'fill' }), tx.build(), 'insufficient_funds')).toEqual({
      kind: 'waiting',
      subState: 'INSUFFICIENT_FUNDS',
      retryInMs: 60_000,
    });
  });

  it('that a node took is sent like any payload', async () => {
    const tx = aManagedTx({ kind: 'fill', state: 'ALLOCATED', nonce: 7n }).build();
    expect(await verdictOn(anAttempt({ kind: 'fill' }), tx, null)).toMatchObject({ kind: 'sent', subState: null });
  });
});

it('what a node says of its fee cap is learned, and nothing else', async () => {
  await judge.execute(chain, [answered('node_fee_cap_exceeded', { error: 'cap (1 ether)' }), answered('txpool_full')]);
  expect(learned).toEqual(['cap (1 ether)']);
});

it('a payload that is refused for a price again and again gets another nonce', async () => {
  const refused = (): AnsweredSend =>
    answered(
      'underpriced',
      {},
      { tx: aManagedTx({ state: 'ALLOCATED', nonce: 7n, subState: 'FEE_CAPPED', tries: 99 }).build() },
    );
  expect(await judge.execute(chain, [refused()])).toMatchObject([{ verdict: { kind: 'refused', as: 'PENDING' } }]);
});

describe('a payload that the balance does not cover', () => {
  const refused = (state: 'ALLOCATED' | 'IN_MEMPOOL'): AnsweredSend =>
    answered(
      'insufficient_funds',
      {},
      { tx: aManagedTx({ state, nonce: 7n, subState: 'INSUFFICIENT_FUNDS', tries: 99 }).build() },
    );
  const waits = { kind: 'waiting', subState: 'INSUFFICIENT_FUNDS', retryInMs: 60_000 };
  const verdictOn = async (send: AnsweredSend) => (await judge.execute(chain, [send]))[0]?.verdict;

  it('keeps its slot and waits for a top-up', async () => {
    expect(await verdictOn(refused('ALLOCATED'))).toEqual(waits);
  });

  it.each(['ALLOCATED', 'IN_MEMPOOL'] as const)('loses its slot when the balance does cover it: %s', async (state) => {
    committed = 1_000n * 10n ** 18n;
    expect(await kindOf(refused(state))).toBe('refused');
    committed += 1n;
    expect(await kindOf(refused(state))).toBe('waiting');
  });

  it('keeps its slot and waits for a top-up once it was in the mempool', async () => {
    expect(await verdictOn(refused('IN_MEMPOOL'))).toEqual(waits);
  });
});

it('only the slots of bumps and of refused replacements are looked at for other attempts', async () => {
  await judge.execute(chain, [answered(null), answered('oversized_data')]);
  expect(asked).toEqual([]);
  const tx = aManagedTx({ state: 'ALLOCATED', nonce: 7n, replaces: 'other' }).build();
  await judge.execute(chain, [answered('oversized_data', {}, { tx })]);
  expect(asked).toEqual([7n]);
});

it('one endpoint alone that has no room says nothing about the payload', async () => {
  chain.head = () => Promise.reject(new Error('asked for nothing'));
  expect(await kindOf(answered('txpool_full', { alone: true }))).toBe('waiting');
});

describe('a bump', () => {
  const inPool = (): Pick<AnsweredSend, 'tx'> => sentBefore('OUTCOME_UNKNOWN', 0);
  const earlier = (status: Attempt['status']): Attempt => anAttempt({ txHash: aHash(2), status });
  const often = (): Pick<AnsweredSend, 'tx'> => ({
    tx: aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n, subState: 'FEE_CAPPED', tries: 99 }).build(),
  });

  it.each(['ACCEPTED', 'UNKNOWN', 'SIGNED'] as const)(
    'that is refused for its price ends nothing while an earlier attempt is %s',
    async (status) => {
      siblings = [earlier(status)];
      expect(await kindOf(answered('underpriced', {}, often()))).toBe('waiting');
      expect(await kindOf(answered('replacement_underpriced', { status: 'UNKNOWN' }, inPool()))).toBe('sent');
    },
  );

  it('is none when no other attempt may be out: then another transaction has the nonce', async () => {
    siblings = [earlier('REJECTED')];
    const [send] = await judge.execute(chain, [answered('replacement_underpriced', { status: 'UNKNOWN' }, inPool())]);
    expect(send?.verdict).toMatchObject({ kind: 'sent', subState: 'NONCE_SYNC' });
  });

  it('is known by the attempts of its slot, which are read for these answers alone', async () => {
    siblings = [earlier('ACCEPTED')];
    await judge.execute(chain, [
      answered(null, {}, inPool()),
      answered('txpool_full', { status: 'ACCEPTED' }, inPool()),
    ]);
    await judge.execute(chain, [answered('txpool_full')]);
    expect(asked).toEqual([]);
    await judge.execute(chain, [answered('txpool_full', {}, inPool())]);
    expect(asked).toEqual([7n]);
  });
});
