import { expect, it } from '@jest/globals';
import type { LeaseManager, FencedUnitOfWork, NonceLedger } from '../../../src/modules/signers/index.js';
import type { FollowChain } from '../../../src/modules/chain/index.js';
import type { ReadReceipts } from '../../../src/modules/confirmations/application/read-receipts.js';
import type { ReceiptMetrics } from '../../../src/modules/confirmations/application/receipt-metrics.js';
import { SettleMined } from '../../../src/modules/confirmations/application/settle-mined.js';
import type {
  AttemptRepository,
  FinalityRule,
  LeasedWork,
  ManagedTxRepository,
  TxMetrics,
} from '../../../src/modules/transactions/index.js';
import { aSigner } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';

/** Nothing of them can be decided, whatever the look. */
const WAITING = Array.from({ length: 2_500 }, () => ({ progress: { receipt: null } }));

it('a look begins behind all that the looks before could not decide, and again with the first after the last', async () => {
  const chain = new ModelChain();
  const tip = await chain.head();
  const first: number[] = [];
  const minedUpTo = async (
    _chain: unknown,
    _signers: unknown,
    _upTo: unknown,
    page: { skip: number; limit: number },
  ) => {
    if (page.limit > 1) first.push(page.skip);
    return WAITING.slice(page.skip, page.skip + page.limit);
  };
  const unused = {} as unknown;
  const settle = new SettleMined(
    new ModelChains(chain),
    { hashAt: () => tip.hash } as unknown as FollowChain,
    { heldOn: () => [{ signer: aSigner() }] } as unknown as LeaseManager,
    { run: async () => [] } as unknown as LeasedWork,
    unused as FencedUnitOfWork,
    { minedUpTo } as unknown as ManagedTxRepository,
    unused as AttemptRepository,
    unused as NonceLedger,
    { asksTheChain: () => false, heights: async () => ({}), agreedHead: async () => tip } as unknown as FinalityRule,
    unused as TxMetrics,
    unused as ReceiptMetrics,
    unused as ReadReceipts,
    new RecordingLog(),
  );
  for (let look = 0; look < 4; look += 1) await settle.execute(chain.chainId, tip.number);
  expect(first).toEqual([0, 1_000, 2_000, 0]);
});
