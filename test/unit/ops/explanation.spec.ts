import { describe, expect, it } from '@jest/globals';
import { explain } from '../../../src/modules/ops/domain/explanation.js';
import type { TxFacts } from '../../../src/modules/ops/domain/tx-facts.js';
import { isFinal, TX_STATES, type TxState, type TxSubState } from '../../../src/modules/ledger/index.js';
import { TX_SUB_STATES } from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { anAddress, DEV_CHAIN } from '../../support/builders.js';

const NEXT_TRY = '2026-11-21T08:01:00.000Z';
const SIGNER = anAddress(1);
const PAUSE = { chainId: DEV_CHAIN, signer: SIGNER, account: null, since: NEXT_TRY, by: 'api', reason: 'key rotation' };
const [NO_PRICE, HIGH] = [
  { maxFeePerGas: 5n, maxPriorityFeePerGas: 1n },
  { maxFeePerGas: 99n, maxPriorityFeePerGas: 9n },
];

function facts(overrides: Partial<TxFacts> = {}): TxFacts {
  return {
    txId: 'tx',
    kind: 'payload',
    chainId: DEV_CHAIN,
    address: SIGNER,
    state: 'IN_MEMPOOL',
    subState: null,
    nonce: 7,
    since: '2026-11-21T08:00:00.000Z',
    nextTryAt: NEXT_TRY,
    expiresAt: null,
    lastError: null,
    failureReason: null,
    replacedBy: null,
    noOpSignedAt: null,
    command: null,
    attempts: 1,
    awaits: [],
    awaitsPermits: [],
    queue: { position: 1, ahead: 0 },
    blockedBy: null,
    price: null,
    endpoints: [{ endpoint: '#0', state: 'up', lastError: null }],
    balance: null,
    signer: {
      paused: null,
      behind: null,
      external: false,
      nonceGap: null,
      leaseOwner: 'node',
      inFlight: 1,
      inFlightLimit: { configured: 64, learnt: null, delegated: false },
    },
    mined: null,
    ...overrides,
  };
}

const summaryOf = (overrides: Partial<TxFacts>): string => explain(facts(overrides)).summary;
const price = (highestAttempt: typeof NO_PRICE, aboveMarket: boolean): TxFacts['price'] => ({
  highestAttempt,
  market: { maxFeePerGas: 10n, maxPriorityFeePerGas: 2n },
  congestedTip: 3n,
  aboveMarket,
});
const missing = (wei: bigint): TxFacts['balance'] => ({ balance: 1n, committed: 0n, queuedAhead: 0n, missing: wei });
const FREE: TxFacts['price'] = {
  highestAttempt: { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
  market: { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
  congestedTip: 0n,
  aboveMarket: true,
};
const behind = { txId: 'other', nonce: 3, state: 'IN_MEMPOOL', heldBy: null } as const;

describe('every state with every sub state', () => {
  const pairs = TX_STATES.flatMap((state) =>
    [null, ...TX_SUB_STATES].map((subState): [TxState, TxSubState | null] => [state, subState]),
  );

  it.each(pairs)('%s/%s is said in whole sentences, with what happens next', (state, subState) => {
    const { summary, next, operator } = explain(facts({ state, subState }));
    expect(summary).toMatch(/^The transaction .{10,}\.$/);
    expect(next.what).toMatch(/.{10,}/);
    for (const text of [summary, next.what, ...operator]) expect(text).not.toMatch(/undefined|null|\[object/);
    if (isFinal(state)) expect(next).toEqual({ what: 'nothing: this state is final', at: null });
  });
});

describe('what a tx without a sub state waits for', () => {
  it.each<[string, Partial<TxFacts>]>([
    ['waits for a nonce: it is the next of its signer.', { state: 'PENDING' }],
    ['waits for a nonce: 1 transaction is ahead of it.', { state: 'PENDING', queue: { position: 2, ahead: 1 } }],
    [
      'waits for a nonce: more than 10000 transactions are ahead of it.',
      { state: 'PENDING', queue: { position: null, ahead: 10_000 } },
    ],
    [
      'waits for a nonce: no node acts for its signer yet.',
      { state: 'PENDING', signer: { ...facts().signer, leaseOwner: null } },
    ],
    [
      'waits for a nonce: 64 of at most 64 transactions of its signer are in flight already.',
      { state: 'PENDING', signer: { ...facts().signer, inFlight: 64 } },
    ],
    [
      'waits for a nonce: 16 of at most 16 transactions of its signer are in flight already.',
      {
        state: 'PENDING',
        signer: { ...facts().signer, inFlight: 16, inFlightLimit: { configured: 64, learnt: 16, delegated: false } },
      },
    ],
    [
      'waits for a nonce: 1 of at most 1 transactions of its signer are in flight already, because its account runs the code of a contract.',
      {
        state: 'PENDING',
        signer: { ...facts().signer, inFlightLimit: { configured: 64, learnt: 1, delegated: true } },
      },
    ],
    [
      'waits for a nonce: 0xa and 0xb must sign an authorization for it, with nothing else in flight.',
      { state: 'PENDING', awaits: ['0xa', '0xb'] },
    ],
    ['has nonce 7, and no RPC endpoint has accepted it yet.', { state: 'ALLOCATED' }],
    ['was sent and is not mined: it is the next of its signer.', {}],
    [
      'was sent and is not mined: transaction other with the lower nonce 3 must be mined first.',
      { blockedBy: behind, price: price(NO_PRICE, false) },
    ],
    ['was sent and is not mined: its price is below the market of its speed.', { price: price(NO_PRICE, false) }],
    [
      'was sent and is not mined: it pays more than nine of ten recent transactions, so its price is not the reason.',
      { price: price(HIGH, true) },
    ],
    ['was sent and is not mined: gas is free, so its price is not the reason.', { price: FREE }],
    [
      'was sent and is not mined: gas is free, so its price is not the reason, and the balance of the signer does not cover a price above 0, so nothing can outbid it.',
      { price: FREE, balance: { balance: 20_999n, committed: 0n, queuedAhead: 0n, missing: 0n } },
    ],
    [
      'was sent and is not mined: it is the next of its signer, and its price is that of the market.',
      { price: price({ maxFeePerGas: 10n, maxPriorityFeePerGas: 2n }, false) },
    ],
    [
      'was mined in block 9, and waits for 2 blocks more of 20.',
      { state: 'MINED', mined: { blockNumber: 9, required: 20, missing: 2 } },
    ],
    [
      'was mined in block 9, and waits for 1 block more of 20.',
      { state: 'MINED', mined: { blockNumber: 9, required: 20, missing: 1 } },
    ],
    // By its request, on a chain whose tag decides, too.
    [
      'was mined in block 9, which is deep enough, and waits until the RPC endpoints agree that this block is final.',
      { state: 'MINED', mined: { blockNumber: 9, required: 5, missing: 0 } },
    ],
    [
      'was mined in block 9, and is final with 20 blocks on top.',
      { state: 'MINED', mined: { blockNumber: 9, required: 20, missing: null } },
    ],
    [
      'was mined in block 9, and waits until the chain tags this block as final.',
      { state: 'MINED', mined: { blockNumber: 9, required: null, missing: null } },
    ],
    ['failed: execution reverted.', { state: 'FAILED', failureReason: 'execution reverted' }],
    ['was replaced: transaction other took its nonce.', { state: 'REPLACED', replacedBy: 'other' }],
  ])('The transaction %s', (summary, overrides) => {
    expect(summaryOf(overrides)).toBe(`The transaction ${summary}`);
  });

  it('is the time of its next try, and none for what comes with a block', () => {
    expect(explain(facts()).next.at).toBe(NEXT_TRY);
    expect(explain(facts({ state: 'MINED' })).next.at).toBeNull();
  });
});

describe('what a sub state says', () => {
  const WORDS: Readonly<Record<TxSubState, [string, Partial<TxFacts>]>> = {
    NONCE_SYNC: ['waits because an RPC endpoint says that nonce 7 is used, and no attempt of it has a receipt.', {}],
    STALE: ['was sent more than once and is not mined: it is the next of its signer.', {}],
    FEE_CAPPED: [
      'waits because the market is above the highest price that may be paid for it (the market asks for 10 wei per gas).',
      { price: price(NO_PRICE, false) },
    ],
    INSUFFICIENT_FUNDS: [
      'waits because the balance of its signer does not cover its value and gas: 5 wei are missing.',
      { balance: missing(5n) },
    ],
    OUTCOME_UNKNOWN: [
      'counts as sent, because the answer to its last send is not clear ("timeout").',
      { lastError: 'timeout' },
    ],
    CANCELLING: [
      'competes with a no-op for nonce 7 since 2026-11-21T08:00:01.000Z (cancelled by its client): if the no-op is mined, its payload is not executed.',
      { failureReason: 'cancelled by its client', noOpSignedAt: '2026-11-21T08:00:01.000Z' },
    ],
    REFUSED: [
      'was refused by every RPC endpoint ("oversized data"), and a node may have kept its bytes all the same: a no-op competes since 2026-11-21T08:00:01.000Z with it for nonce 7.',
      { failureReason: 'oversized data', noOpSignedAt: '2026-11-21T08:00:01.000Z' },
    ],
    REPLACING: [
      'rests: its replacement other competes with it for nonce 7, and the one of the two that is mined decides.',
      { replacedBy: 'other' },
    ],
    REORG_DETECTED: ['was mined in a block that a reorg orphaned.', {}],
    SIGNER_PAUSED: [
      `waits because signer ${SIGNER} on chain ${DEV_CHAIN} is paused since ${NEXT_TRY} by api (key rotation).`,
      { signer: { ...facts().signer, paused: PAUSE } },
    ],
    ACCOUNT_STOPPED: [
      `waits because account shop is stopped since ${NEXT_TRY} by api (key rotation).`,
      { signer: { ...facts().signer, paused: { ...PAUSE, chainId: null, signer: null, account: 'shop' } } },
    ],
    NODE_REFUSED: ['waits because every RPC endpoint refuses it for now ("no").', { lastError: 'no' }],
    POOL_LIMIT: [
      'waits because the pools have no room for it ("txpool is full"); they take 16 transactions of its signer at once.',
      {
        lastError: 'txpool is full',
        signer: { ...facts().signer, inFlightLimit: { configured: 64, learnt: 16, delegated: false } },
      },
    ],
    NODE_UNAVAILABLE: ['waits because no RPC endpoint answers ("ECONNREFUSED").', { lastError: 'ECONNREFUSED' }],
    SIMULATION_REVERTED: [
      'waits because its gas estimate reverts ("paused"); older transactions of its signer may change that.',
      { lastError: 'paused', blockedBy: behind },
    ],
    SIGNER_UNAVAILABLE: ['waits because no live node can sign for its signer.', {}],
    POLICY_HELD: ['waits because a daily amount of its signer has no room for it ("full").', { lastError: 'full' }],
  };

  it.each(TX_SUB_STATES)('%s', (subState) => {
    const [words, overrides] = WORDS[subState];
    expect(summaryOf({ subState, ...overrides })).toBe(`The transaction ${words}`);
  });

  it('of a replacement that the nodes refused says so, and of a cancelled one that rests does not', () => {
    const rests = { subState: 'REPLACING', replacedBy: null, failureReason: 'too large' } as const;
    const refused =
      'rests: every RPC endpoint refused it ("too large"), and what it replaces is sent again with nonce 7.';
    expect(summaryOf(rests)).toBe(`The transaction ${refused}`);
    const cancelled = summaryOf({ ...rests, noOpSignedAt: '2026-11-21T08:00:01.000Z' });
    expect(cancelled).toBe('The transaction rests: another transaction with nonce 7 is in a block.');
  });

  it('of a slot that is being closed names the no-op only once there is one', () => {
    const words = 'is not wanted any more (expired before it was mined): a no-op will compete with it for nonce 7';
    const expired = { subState: 'CANCELLING', failureReason: 'expired before it was mined' } as const;
    expect(summaryOf({ ...expired, price: price(NO_PRICE, false) })).toContain(words);
    expect(summaryOf({ ...expired, price: null })).toContain(
      'is not wanted any more (expired before it was mined), and no RPC endpoint tells what a no-op costs',
    );
  });

  it('of a race tells an original from what waits for its race, and from what lost unless a reorg comes', () => {
    expect(summaryOf({ state: 'PENDING', subState: 'REPLACING' })).toContain('waits for its race');
    expect(summaryOf({ subState: 'REPLACING' })).toContain('another transaction with nonce 7 is in a block');
  });

  it('of a signer whose database lost commits does not name a nonce', () => {
    expect(summaryOf({ state: 'PENDING', subState: 'NONCE_SYNC', nonce: null })).toContain('the database lost commits');
  });

  it('does not change what a final state says', () => {
    expect(summaryOf({ state: 'CONFIRMED', subState: 'STALE' })).toBe(summaryOf({ state: 'CONFIRMED' }));
  });

  it.each<[TxSubState, string]>([
    ['NONCE_SYNC', `If the signer stands still, POST /api/v1/signers/${DEV_CHAIN}/${SIGNER}/sync.`],
    ['INSUFFICIENT_FUNDS', `Top up ${SIGNER}.`],
  ])('%s tells the operator: %s', (subState, advice) => {
    expect(explain(facts({ subState })).operator).toEqual([advice]);
  });
});

describe('what is said besides', () => {
  it('is when a tx that waits expires, and what was wrong with the last answer about it', () => {
    const expiresAt = '2026-11-21T09:00:00.000Z';
    expect(summaryOf({ state: 'PENDING', expiresAt })).toContain(
      ` If it has no nonce at ${expiresAt}, it ends DROPPED.`,
    );
    expect(summaryOf({ state: 'IN_MEMPOOL', lastError: 'no status (#0)' })).toContain(' ("no status (#0)")');
    expect(summaryOf({ state: 'IN_MEMPOOL', expiresAt })).toContain(
      ` If it is not mined at ${expiresAt}, a no-op with its nonce competes with it.`,
    );
    for (const over of [{ state: 'MINED' }, { subState: 'CANCELLING' }, { subState: 'REPLACING' }] as const)
      expect(summaryOf({ ...over, expiresAt })).not.toContain(expiresAt);
  });

  it.each([
    ['cancel', 'cancel it'],
    ['replace', 'replace it'],
    ['speed_up', 'speed it up'],
    ['close', 'close it'],
  ] as const)('is a %s that waits for the owner of its signer', (kind, words) => {
    const who = kind === 'close' ? 'An operator' : 'Its client';
    const since = '2026-11-21T08:00:09.000Z';
    const nextTryAt = '2026-11-21T08:01:00.000Z';
    expect(summaryOf({ command: { kind, since, tries: 0, nextTryAt } })).toContain(
      ` ${who} asked at ${since} to ${words}; the owner of its signer carries this out next.`,
    );
    expect([1, 3].map((tries) => summaryOf({ command: { kind, since, tries, nextTryAt } }))).toEqual(
      ['one try', '3 tries'].map((tried) =>
        expect.stringContaining(
          ` ${who} asked at ${since} to ${words}; that could not be done yet (${tried}), and is tried again at ${nextTryAt}.`,
        ),
      ),
    );
  });

  it('is that the signer is paused, and how to have it go on', () => {
    const { summary, operator } = explain(facts({ signer: { ...facts().signer, paused: PAUSE } }));
    expect(summary).toContain(
      `signer ${SIGNER} on chain ${DEV_CHAIN} is paused since ${NEXT_TRY} by api (key rotation).`,
    );
    expect(operator).toEqual([`POST /api/v1/signers/${DEV_CHAIN}/${SIGNER}/resume.`]);
  });

  it.each([
    [{ chainId: null, signer: null }, 'all signers are paused', 'POST /api/v1/go with {}.'],
    [
      { signer: null },
      `all signers on chain ${DEV_CHAIN} are paused`,
      `POST /api/v1/go with {"chainId":${DEV_CHAIN}}.`,
    ],
    [
      { chainId: null, signer: null, account: 'shop' },
      'account shop is stopped',
      'POST /api/v1/go with {"account":"shop"}.',
    ],
    [{ chainId: null }, `signer ${SIGNER} on all chains is paused`, `POST /api/v1/go with {"signer":"${SIGNER}"}.`],
  ])('is a stop of many, and how to end that: %p', (whose, words, advice) => {
    const paused = { ...PAUSE, ...whose, reason: null };
    const waits = facts({ state: 'PENDING', subState: 'SIGNER_PAUSED', signer: { ...facts().signer, paused } });
    expect(explain(waits).summary).toBe(`The transaction waits because ${words} since ${NEXT_TRY} by api.`);
    expect(explain(waits).operator).toEqual([advice]);
  });

  it('is that the chain was reset, since when, and where to read what to do', () => {
    const reset = { cause: 'CHAIN_RESET', chainNonce: 0, usedBelow: 20, block: null, since: NEXT_TRY } as const;
    const { summary, operator } = explain(facts({ signer: { ...facts().signer, behind: reset } }));
    expect(summary).toContain(`Nothing of its signer is sent since ${NEXT_TRY}: the chain was reset`);
    expect(operator.join(' ')).toContain('operations guide');
  });

  it('is that no endpoint answers, when none does, and not when none was called yet', () => {
    const endpoint = (state: 'up' | 'backing_off' | 'unverified') => ({ endpoint: '#0', state, lastError: null });
    expect(summaryOf({ endpoints: [endpoint('backing_off')] })).toContain(
      'No RPC endpoint of its chain answers this node.',
    );
    for (const endpoints of [[], [endpoint('backing_off'), endpoint('up')], [endpoint('unverified')]])
      expect(summaryOf({ endpoints })).not.toContain('No RPC endpoint');
  });

  it('is how much money is missing', () => {
    expect(explain(facts({ balance: missing(5n) })).operator[0]).toMatch(`Send at least 5 wei to ${SIGNER}:`);
    expect(explain(facts({ balance: missing(0n) })).operator).toEqual([]);
    const { operator } = explain(facts({ subState: 'INSUFFICIENT_FUNDS', balance: missing(5n) }));
    expect(operator).toEqual([`Send at least 5 wei to ${SIGNER}.`]);
  });

  it('is nothing for a final state', () => {
    const { summary, operator } = explain(
      facts({ state: 'CONFIRMED', balance: missing(5n), signer: { ...facts().signer, paused: PAUSE } }),
    );
    expect([summary, operator]).toEqual(['The transaction was mined with success, and its block is deep enough.', []]);
  });
});

describe('a hold', () => {
  const hold = (overrides: Partial<TxFacts>) => explain(facts({ kind: 'hold', state: 'ALLOCATED', ...overrides }));

  it('is told apart from what Lockstep sends, with what waits behind it and what ends it', () => {
    const signer = { ...facts().signer, inFlight: 3 };
    const { summary, next, operator } = hold({ signer, expiresAt: NEXT_TRY });
    expect(summary).toBe(
      'The hold keeps nonce 7 for its outside sender, and nothing that was sent with it was seen; 2 transactions wait behind it.',
    );
    expect(next).toEqual({ what: expect.stringContaining(`after ${NEXT_TRY} it is given back`), at: null });
    expect(operator).toEqual([expect.stringContaining('/nonces/7/consume')]);
    expect(hold({}).next.what).toContain('it has no end by time');
    expect(hold({}).summary).not.toContain('behind it');
    expect(hold({ queue: { position: 2, ahead: 1 }, signer }).summary).toContain('1 transaction waits behind it');
  });

  it('of a signer whose key no node has is ended by its sender or the chain alone, and behind a gap that is said', () => {
    const signer = { ...facts().signer, external: true, nonceGap: { nonce: 6, since: NEXT_TRY } };
    for (const state of ['ALLOCATED', 'IN_MEMPOOL'] as const) {
      const { summary, next, operator } = hold({ state, signer, expiresAt: NEXT_TRY });
      expect(summary).toContain("The lower nonce 6 is nobody's, and Lockstep has no key to fill it.");
      expect([next.what, ...operator].join(' ')).not.toMatch(/no-op|close/);
      expect(operator).toEqual([
        expect.stringContaining('Lockstep has no key of the signer'),
        expect.stringContaining('POST …/nonces'),
      ]);
    }
    expect(hold({ signer, nonce: 5 }).summary).not.toContain('fill');
  });

  it.each<[TxState, TxSubState | null, string]>([
    ['PENDING', null, 'The hold waits for a nonce: it is the next of its signer.'],
    [
      'IN_MEMPOOL',
      'NONCE_SYNC',
      'The hold keeps nonce 7, with which its outside sender has sent a transaction, or says so.',
    ],
    [
      'IN_MEMPOOL',
      'REORG_DETECTED',
      'The hold keeps nonce 7, with which its outside sender has sent a transaction, or says so.',
    ],
    ['MINED', null, 'The hold was mined, and waits until its block is final.'],
    ['CONFIRMED', null, 'The hold was consumed: nonce 7 is used in a final block.'],
    ['FAILED', null, 'The hold was consumed: nonce 7 is used in a final block, by a transaction that reverted.'],
    ['CANCELLED', null, 'The hold ended: given back.'],
    ['DROPPED', null, 'The hold ended: given back.'],
  ])('that is %s (%s) says so', (state, subState, said) => {
    const { summary, next } = hold({
      state,
      subState,
      failureReason: 'given back',
      queue: isFinal(state) ? null : facts().queue,
    });
    expect(summary).toBe(said);
    expect(next.what).not.toContain('sends the same bytes');
    expect(hold({ state, failureReason: null }).summary).not.toContain('null');
  });

  it('without a nonce says what it waits for', () => {
    const { summary } = hold({ state: 'PENDING', nonce: null, lastError: 'outside senders have as many as they may' });
    expect(summary).toContain('The hold waits for a nonce: outside senders have as many as they may.');
  });

  it('that is closed competes with a no-op, which is signed or not yet', () => {
    const reason = { failureReason: 'closed by an operator', price: FREE };
    const closed = { state: 'IN_MEMPOOL', subState: 'CANCELLING', ...reason } as const;
    expect(hold(closed).summary).toContain('(closed by an operator): a no-op will compete with it for nonce 7');
    expect(hold({ ...closed, noOpSignedAt: NEXT_TRY }).summary).toContain(`competes with a no-op for nonce 7`);
  });

  it('with a lower nonce is what another one waits for, by the account that has it', () => {
    const held = { ...behind, txId: null, heldBy: 'relayer' };
    expect(summaryOf({ blockedBy: held })).toContain(
      'the lower nonce 3, which an outside sender of the account relayer has, must be used or given back first',
    );
    expect(summaryOf({ blockedBy: { ...held, heldBy: 'another account' } })).toContain(
      'an outside sender of another account has',
    );
  });
});

it('a fill is called so', () => {
  expect(summaryOf({ kind: 'fill', state: 'DROPPED' })).toBe(
    'The fill is not needed any more: a foreign transaction used its nonce.',
  );
});
