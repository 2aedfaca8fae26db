import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import {
  again,
  CoverCosts,
  type KnownBalances,
  type Simulated,
} from '../../../src/modules/lanes/application/cover-costs.js';
import { DailyRoom } from '../../../src/modules/lanes/application/daily-room.js';
import type { PendingTx } from '../../../src/modules/ledger/index.js';
import { aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ModelChain } from '../../support/model-chain.js';

const [MINE, THEIRS] = [aSigner(1), aSigner(2)];

interface Waiting {
  readonly id: string;
  readonly cost: bigint | 'unfunded' | 'postponed';
  readonly signer?: SignerId;
  readonly priority?: number;
  /** It waits for the authorizations of others. */
  readonly isAwaiting?: boolean;
}

let balances: Map<number, bigint>;
/** Ids of those for which the daily amounts have no room. */
let full: Set<string>;

beforeEach(() => {
  full = new Set();
  balances = new Map([
    [1, 60n],
    [2, 60n],
  ]);
});

function simulatedOf({ cost, isAwaiting = false }: Waiting): Simulated {
  if (cost === 'unfunded') return { kind: 'unfunded', error: 'insufficient funds' };
  if (isAwaiting && cost !== 'postponed')
    return { kind: 'awaits', cost, verdict: again('STALE', 1, 'it waits for others') };
  return cost === 'postponed' ? { kind: 'not_now', apply: () => undefined } : { kind: 'ready', gasLimit: 1n, cost };
}

function numberOf({ address }: SignerId): number {
  return address === MINE.address ? 1 : 2;
}

/** What becomes of each, by its id. */
async function covered(...waiting: readonly Waiting[]): Promise<Record<string, string>> {
  const known = {
    refresh: async () => undefined,
    has: (signer: SignerId) => balances.has(numberOf(signer)),
    covers: (signer: SignerId, wei: bigint) => (balances.get(numberOf(signer)) ?? 0n) >= wei,
    take: (signer: SignerId, wei: bigint) => {
      const n = numberOf(signer);
      const left = (balances.get(n) ?? 0n) - wei;
      if (left >= 0n) balances.set(n, left);
      return left >= 0n;
    },
  } as unknown as KnownBalances;
  const pending = waiting.map(({ id, signer = MINE, priority = 0 }): PendingTx => ({
    tx: aManagedTx({ txId: id, signer }).build(),
    request: aRequest({ priority }),
    expired: false,
    wasTried: false,
    isStopped: false,
    lacksPermit: false,
  }));
  const room = fakeOf(DailyRoom, {
    lacking: async (items) =>
      new Map(items.flatMap(({ tx }) => (full.has(tx.id) ? [[tx.id, 'no room'] as const] : []))),
  });
  const verdicts = await new CoverCosts(known, room).execute(new ModelChain(), pending, waiting.map(simulatedOf));
  return Object.fromEntries(
    verdicts.map((verdict, index) => {
      const tx = pending[index]?.tx;
      if (verdict.kind === 'not_now' && tx) verdict.apply(tx);
      return [waiting[index]?.id ?? '', tx?.progress.subState ?? verdict.kind];
    }),
  );
}

it('what waits for authorizations of others waits for the daily amounts of its policy first, and parks nothing', async () => {
  full.add('a').add('ready');
  const awaits = { cost: 1n, isAwaiting: true };
  expect(await covered({ id: 'a', ...awaits }, { id: 'b', ...awaits }, { id: 'ready', cost: 1n })).toEqual({
    ...{ a: 'POLICY_HELD', b: 'STALE', ready: 'ready' },
  });
});

describe('a balance that does not cover all that waits', () => {
  it('is spent from the front of the queue, and what is behind the first that it does not cover is parked unchanged', async () => {
    expect(
      await covered({ id: 'a', cost: 30n }, { id: 'b', cost: 31n }, { id: 'c', cost: 1n }, { id: 'd', cost: 40n }),
    ).toEqual({ a: 'ready', b: 'INSUFFICIENT_FUNDS', c: 'parked', d: 'parked' });
    expect(balances.get(1)).toBe(30n);
  });

  it('is spent by priority and then age, whatever the order in which txs were read', async () => {
    expect(
      await covered(
        { id: 'c', cost: 20n },
        { id: 'a', cost: 50n },
        { id: 'd', cost: 10n, priority: 5 },
        { id: 'b', cost: 20n },
      ),
    ).toEqual({ d: 'ready', a: 'ready', b: 'INSUFFICIENT_FUNDS', c: 'parked' });
  });

  it('parks also behind a tx of which a node says so', async () => {
    expect(await covered({ id: 'a', cost: 'unfunded' }, { id: 'b', cost: 1n }, { id: 'c', cost: 'unfunded' })).toEqual({
      a: 'INSUFFICIENT_FUNDS',
      b: 'parked',
      c: 'parked',
    });
  });

  it('that nobody has told yet is no lack of funds: what needs it waits for the node', async () => {
    balances.delete(1);
    expect(await covered({ id: 'a', cost: 1n }, { id: 'b', cost: 1n }, { id: 'c', cost: 1n, signer: THEIRS })).toEqual({
      a: 'NODE_UNAVAILABLE',
      b: 'parked',
      c: 'ready',
    });
  });

  it('holds up neither another signer nor what waits for another reason', async () => {
    expect(
      await covered({ id: 'a', cost: 61n }, { id: 'b', cost: 60n, signer: THEIRS }, { id: 'c', cost: 'postponed' }),
    ).toEqual({ a: 'INSUFFICIENT_FUNDS', b: 'ready', c: 'not_now' });
  });
});
