import { beforeEach, expect, it, jest } from '@jest/globals';
import { ConfirmationsConfig } from '../../../src/config/lockstep-config.js';
import type { ReceiptLookup } from '../../../src/modules/chain/index.js';
import { CheckReceipts } from '../../../src/modules/confirmations/application/check-receipts.js';
import type { MoveTaken, TxInDoubt } from '../../../src/modules/confirmations/application/move-taken.js';
import type { ReceiptMetrics } from '../../../src/modules/confirmations/application/receipt-metrics.js';
import type { RecordMined } from '../../../src/modules/confirmations/application/record-mined.js';
import type { FencedUnitOfWork, LeaseManager } from '../../../src/modules/signers/index.js';
import type { AttemptRepository, LeasedWork, ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aHash, anAttempt, aSigner } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const TX = { id: 'tx-1', signer: aSigner(), nonce: 0n, isInDoubt: true };
const ATTEMPTS = [1, 2].map((n) => anAttempt({ txId: TX.id, signer: TX.signer, txHash: aHash(n) }));

let chain: ModelChain;
let check: CheckReceipts;
let doubts: readonly TxInDoubt[];
const checked = jest.fn();

beforeEach(() => {
  chain = new ModelChain();
  checked.mockClear();
  check = new CheckReceipts(
    new ModelChains(chain),
    { heldOn: () => [{ signer: TX.signer }] } as unknown as LeaseManager,
    { run: async () => [] } as unknown as LeasedWork,
    {} as unknown as FencedUnitOfWork,
    { dueForReceiptCheck: async () => [TX] } as unknown as ManagedTxRepository,
    { ofSlots: async () => ATTEMPTS } as unknown as AttemptRepository,
    { execute: async () => [] } as unknown as RecordMined,
    { execute: async (_: unknown, items: readonly TxInDoubt[]) => void (doubts = items) } as unknown as MoveTaken,
    new ConfirmationsConfig(),
    { checked } as unknown as ReceiptMetrics,
    new RecordingLog(),
  );
});

it('a nonce is in doubt when no attempt of its slot has a receipt', async () => {
  await check.execute(chain.chainId);
  expect(doubts).toMatchObject([{ tx: TX, attempts: ATTEMPTS }]);
  expect(checked.mock.calls).toContainEqual(['none', 1]);
});

it.each([0, 1])('an answer that is missing for one attempt is none for its tx: %d', async (silent) => {
  const NO_ANSWER: ReceiptLookup = { kind: 'unavailable', message: 'no answer' };
  chain.faults.receipt = (hash) => (hash === ATTEMPTS[silent]?.txHash ? NO_ANSWER : undefined);
  await check.execute(chain.chainId);
  expect(doubts).toEqual([]);
  expect(checked.mock.calls).toContainEqual(['error', 1]);
});
