import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ConfirmationsConfig } from '../../../src/config/lockstep-config.js';
import { type Receipt, type ReceiptLookup, RpcUnavailable } from '../../../src/modules/chain/index.js';
import { CheckReceipts } from '../../../src/modules/confirmations/application/check-receipts.js';
import type { ReassignNonces, TxInDoubt } from '../../../src/modules/nonces/application/reassign-nonces.js';
import type { ReceiptMetrics } from '../../../src/modules/confirmations/application/receipt-metrics.js';
import type { MinedAttempt, RecordMined } from '../../../src/modules/confirmations/application/record-mined.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import type { AttemptRepository, ManagedTx } from '../../../src/modules/transactions/index.js';
import type { TxSubState } from '../../../src/modules/transactions/domain/tx-state-machine.js';
import { aHash, aManagedTx, anAttempt, aReceipt, aSigner } from '../../support/builders.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { ourWork, TxsInMemory } from './txs-in-memory.js';

const TX = 'tx-1';
const ATTEMPTS = [1, 2].map((n) => anAttempt({ txId: TX, nonce: 0n, txHash: aHash(n) }));
/** After what is no answer, and while a nonce is in doubt. */
const SOON_MS = 2_000;
const NO_ANSWER: ReceiptLookup = { kind: 'unavailable', message: 'no answer' };

let chain: ModelChain;
let txs: TxsInMemory;
let check: CheckReceipts;
let doubts: readonly TxInDoubt[];
let recorded: Receipt[];
let limits: number[];
const checked = jest.fn();
const config = new ConfirmationsConfig();

beforeEach(() => {
  chain = new ModelChain();
  txs = new TxsInMemory();
  txs.put(sent('NONCE_SYNC'));
  checked.mockClear();
  [doubts, recorded, limits] = [[], [], []];
  const repository = Object.assign(txs, {
    dueForReceiptCheck: (_chain: unknown, _signers: unknown, limit: number) => {
      limits.push(limit);
      return txs.byIds([TX]);
    },
  });
  check = new CheckReceipts(
    new ModelChains(chain),
    { heldOn: () => [{ signer: aSigner() }] } as unknown as LeaseManager,
    ourWork,
    new UnfencedWork(),
    repository.asRepository(),
    { ofSlots: async () => ATTEMPTS } as unknown as AttemptRepository,
    {
      execute: async (_: unknown, mined: readonly MinedAttempt[]) =>
        void recorded.push(...mined.map(({ receipt }) => receipt)),
    } as unknown as RecordMined,
    { execute: async (_: unknown, items: readonly TxInDoubt[]) => void (doubts = items) } as unknown as ReassignNonces,
    config,
    { checked } as unknown as ReceiptMetrics,
    new RecordingLog(),
  );
});

function sent(subState: TxSubState | null): ManagedTx {
  const tx = aManagedTx({ txId: TX }).allocated(0n).build();
  tx.sent(aHash(1), subState, { resubmit: 'keep', receiptCheck: 'keep' }, null);
  tx.noted();
  return tx;
}

const look = (): Promise<void> => check.execute(chain.chainId);

it('a nonce is in doubt when no attempt of its slot has a receipt', async () => {
  await look();
  expect(doubts).toMatchObject([{ tx: { id: TX }, attempts: ATTEMPTS }]);
  expect(checked.mock.calls).toContainEqual(['none', 1]);
});

it.each([0, 1])('an answer that is missing for one attempt is none for its tx: %d', async (silent) => {
  chain.faults.receipt = (hash) => (hash === ATTEMPTS[silent]?.txHash ? NO_ANSWER : undefined);
  await look();
  expect(doubts).toEqual([]);
  expect(checked.mock.calls).toContainEqual(['error', 1]);
});

it('no answer at all says nothing of any tx', async () => {
  chain.receipts = () =>
    Promise.reject(new RpcUnavailable('rpc_unavailable', { chainId: chain.chainId, method: 'receipts' }, 'no answer'));
  await look();
  expect([doubts, recorded, txs.looksInMs]).toEqual([[], [], [SOON_MS]]);
  expect(checked.mock.calls).toEqual([
    ['found', 0],
    ['none', 0],
    ['error', 1],
  ]);
});

it.each([0, 1])('the receipt of any attempt of the slot is its tx’s, and nothing of it is in doubt: %d', async (n) => {
  const receipt = aReceipt({ txHash: ATTEMPTS[n]?.txHash ?? aHash(0) });
  chain.faults.receipt = (hash) => (hash === receipt.txHash ? { kind: 'found', receipt } : undefined);
  await look();
  expect([recorded, doubts, txs.saved]).toEqual([[receipt], [], []]);
  expect(checked.mock.calls).toEqual([
    ['found', 1],
    ['none', 0],
    ['error', 0],
  ]);
});

it('as many are asked for at once as the workers take', async () => {
  await look();
  expect(limits).toEqual([config.receiptWorkers * 50]);
});

describe('a tx without a receipt', () => {
  it.each([
    ['soon, while its nonce is in doubt', 'NONCE_SYNC' as const, undefined, SOON_MS],
    ['soon, when there was no answer', null, () => NO_ANSWER, SOON_MS],
    ['when what was said may be stale', null, undefined, config.staleReceiptTimeout],
  ])('is looked at again %s', async (_when, subState, answer, inMs) => {
    txs.put(sent(subState));
    if (answer) chain.faults.receipt = answer;
    await look();
    expect(txs.looksInMs).toEqual([inMs]);
  });

  it('and in no doubt keeps its nonce, whatever the chain says of that', async () => {
    txs.put(sent(null));
    await look();
    expect(doubts).toEqual([]);
  });

  it('is not looked at again when it was mined meanwhile', async () => {
    const receipts = chain.receipts.bind(chain);
    chain.receipts = async (hashes) => {
      txs.put(aManagedTx({ txId: TX }).allocated(0n).sent().mined().build());
      return receipts(hashes);
    };
    await look();
    expect([txs.looksInMs, txs.saved]).toEqual([[], []]);
  });
});
