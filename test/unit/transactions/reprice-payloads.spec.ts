import { beforeEach, describe, expect, it } from '@jest/globals';
import { ResubmitConfig } from '../../../src/config/index.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { AttemptDraft } from '../../../src/modules/transactions/application/attempt-signer.js';
import type { FeeRules } from '../../../src/modules/transactions/application/fee-rules.js';
import { RepricePayloads } from '../../../src/modules/transactions/application/reprice-payloads.js';
import type { Attempt } from '../../../src/modules/transactions/domain/attempt.js';
import type { AttemptRepository, ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aHash, aManagedTx, anAttempt, aRequest, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';

const LEASE = { signer: aSigner(), owner: 'node', token: 1n };
const MARKET = { maxFeePerGas: 50n, maxPriorityFeePerGas: 5n };
const REFUSED: Partial<Attempt> = { status: 'REJECTED', errorClass: 'underpriced' };

let stored: Attempt[];
let reprice: RepricePayloads;

beforeEach(() => {
  stored = [];
  reprice = new RepricePayloads(
    {
      sign: async (drafts: readonly AttemptDraft[]) => drafts.map((draft) => anAttempt({ ...draft, txHash: aHash(9) })),
    },
    { price: () => ({ fees: MARKET }) } as unknown as FeeRules,
    new UnfencedWork(),
    {
      insert: async (_fence: unknown, attempts: readonly Attempt[]) => void stored.push(...attempts),
    } as unknown as AttemptRepository,
    {
      requested: async (ids: readonly string[]) => ids.map((txId) => ({ tx: allocated(txId), request: aRequest() })),
      note: async () => undefined,
    } as unknown as ManagedTxRepository,
    Object.assign(new ResubmitConfig(), { maxRefusals: 3 }),
  );
});

const allocated = (txId = 'tx') => aManagedTx({ txId, state: 'ALLOCATED', nonce: 7n, gasLimit: 21_000n }).build();

async function pricesAfter(...attempts: readonly Partial<Attempt>[]): Promise<bigint[]> {
  const refused = { tx: allocated(), attempts: attempts.map((attempt) => anAttempt(attempt)) };
  await reprice.execute(
    { chainId: DEV_CHAIN, feeQuote: async () => null } as unknown as ChainConnector,
    [LEASE],
    [refused],
  );
  return stored.map(({ fees }) => fees.maxFeePerGas);
}

describe('a payload that every node refused for its price', () => {
  it('is signed again at the price of the market', async () => {
    expect(await pricesAfter(REFUSED, REFUSED)).toEqual([MARKET.maxFeePerGas]);
  });

  it('is not while any of its bytes may be out: the lower price could never replace them', async () => {
    for (const status of ['SIGNED', 'UNKNOWN', 'ACCEPTED'] as const)
      expect(await pricesAfter({ status }, REFUSED)).toEqual([]);
  });

  it('is not as often as refusals are allowed', async () => {
    expect(await pricesAfter(REFUSED, REFUSED, REFUSED)).toEqual([]);
  });
});
