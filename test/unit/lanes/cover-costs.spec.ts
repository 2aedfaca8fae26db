import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { CoverCosts, type KnownBalances, type Simulated } from '../../../src/modules/lanes/application/cover-costs.js';
import type { PendingTx } from '../../../src/modules/ledger/index.js';
import { aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { ModelChain } from '../../support/model-chain.js';

const [MINE, THEIRS] = [aSigner(1), aSigner(2)];

interface Waiting {
  readonly id: string;
  readonly cost: bigint | 'unfunded' | 'postponed';
  readonly signer?: SignerId;
  readonly priority?: number;
}

let balances: Map<number, bigint>;

beforeEach(() => {
  balances = new Map([
    [1, 60n],
    [2, 60n],
  ]);
});

function simulatedOf({ cost }: Waiting): Simulated {
  if (cost === 'unfunded') return { kind: 'unfunded', error: 'insufficient funds' };
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
  }));
  const verdicts = await new CoverCosts(known).execute(new ModelChain(), pending, waiting.map(simulatedOf));
  return Object.fromEntries(
    verdicts.map((verdict, index) => {
      const tx = pending[index]?.tx;
      if (verdict.kind === 'not_now' && tx) verdict.apply(tx);
      return [waiting[index]?.id ?? '', tx?.progress.subState ?? verdict.kind];
    }),
  );
}

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
