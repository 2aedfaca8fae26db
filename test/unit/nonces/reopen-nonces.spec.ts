import { beforeEach, describe, expect, it } from '@jest/globals';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { RpcUnavailable } from '../../../src/modules/chain/index.js';
import { ReopenNonces } from '../../../src/modules/nonces/application/reopen-nonces.js';
import type { LeaseManager, NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import type {
  AttemptRepository,
  ConsumedSlot,
  LaneMemory,
  LeasedWork,
} from '../../../src/modules/transactions/index.js';
import type { ForeignNonces } from '../../../src/modules/nonces/index.js';
import { aSigner } from '../../support/builders.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { ourWork } from '../confirmations/txs-in-memory.js';

const SIGNER = aSigner();
const aSlot = (nonce: bigint, foreign: boolean): ConsumedSlot => ({ signer: SIGNER, nonce, foreign, updatedAt: 'now' });
const FILL = aSlot(1n, false);
const FOREIGN = aSlot(2n, true);

let chain: ModelChain;
/** Slots without a tx above a block that is gone. */
let consumed: ConsumedSlot[];
let isOurs: boolean;
let isProvenTaken: boolean;
let looks: number[];
let opened: { readonly slots: bigint[]; readonly attempts: bigint[] };
/** Signers whose lease is taken, whose lane is told of the hole, and whose bell is rung. */
let told: string[][];
let slots: ReopenNonces;

beforeEach(() => {
  chain = new ModelChain();
  chain.transactionCounts = async (accounts) => accounts.map(() => 2n);
  consumed = [FILL, FOREIGN];
  [isOurs, isProvenTaken] = [true, false];
  [looks, told] = [[], [[], [], []]];
  opened = { slots: [], attempts: [] };
  const tell = (index: number) => (signers: readonly SignerId[]) => void told[index]?.push(...signers.map(signerKey));
  const work: typeof ourWork.run = async (...args) => (isOurs ? ourWork.run(...args) : []);
  slots = new ReopenNonces(
    new ModelChains(chain),
    { takeFree: async (signers: readonly SignerId[]) => tell(0)(signers) } as unknown as LeaseManager,
    { run: work } as unknown as LeasedWork,
    new UnfencedWork(),
    {
      consumedWithoutTx: async (_: unknown, lowest: number) => {
        looks.push(lowest);
        return consumed;
      },
      stillConsumed: async (some: readonly ConsumedSlot[]) => some.filter((slot) => consumed.includes(slot)),
      reopen: async (_: unknown, some: readonly SlotRef[]) =>
        void opened.attempts.push(...some.map(({ nonce }) => nonce)),
    } as unknown as AttemptRepository,
    {
      reopen: async (_: unknown, some: readonly SlotRef[]) => void opened.slots.push(...some.map(({ nonce }) => nonce)),
    } as unknown as NonceLedger,
    {
      execute: async (_: unknown, some: readonly unknown[]) => (isProvenTaken ? some : []),
    } as unknown as ForeignNonces,
    { gapOpened: (signer: SignerId) => tell(1)([signer]) } as unknown as LaneMemory,
    { ring: tell(2) },
    new RecordingLog(),
  );
});

const look = (lowest: number | null): Promise<void> => slots.execute(chain.chainId, lowest);
const isWaiting = (): boolean => slots.isWaiting(chain.chainId);

describe('a slot without a tx above a block that is gone', () => {
  it('is opened, and its lane is told of the hole', async () => {
    await look(5);
    expect([looks, opened]).toEqual([[5], { slots: [1n, 2n], attempts: [1n, 2n] }]);
    expect(told).toEqual([1, 1, 1].map(() => [signerKey(SIGNER)]));
    expect(isWaiting()).toBe(false);
  });

  it('is looked at with every block until whoever has the lease has opened it', async () => {
    isOurs = false;
    await look(5);
    expect([opened.slots, isWaiting()]).toEqual([[], true]);
    isOurs = true;
    await look(null);
    expect([opened.slots, isWaiting(), looks]).toEqual([[1n, 2n], false, [5]]);
  });

  it('is looked at no more when whoever has the lease has seen to it', async () => {
    isOurs = false;
    await look(5);
    consumed = [];
    await look(null);
    expect([opened.slots, isWaiting()]).toEqual([[], false]);
  });

  it('is left alone when somebody has seen to it while it was judged', async () => {
    chain.transactionCounts = async (accounts) => {
      consumed = [FILL];
      return accounts.map(() => 2n);
    };
    await look(5);
    expect([opened.slots, isWaiting()]).toEqual([[1n], false]);
  });
});

describe('a nonce of somebody else', () => {
  beforeEach(() => {
    chain.transactionCounts = async (accounts) => accounts.map(() => 3n);
  });

  it('that is used on the new branch is not opened, and is looked at until that is proven', async () => {
    await look(5);
    expect([opened.slots, isWaiting()]).toEqual([[1n], true]);
    consumed = [FOREIGN];
    isProvenTaken = true;
    await look(null);
    expect([opened.slots, isWaiting()]).toEqual([[1n], false]);
  });

  it('that was freed after all is opened at a later look', async () => {
    await look(5);
    consumed = [FOREIGN];
    chain.transactionCounts = async (accounts) => accounts.map(() => 2n);
    await look(null);
    expect([opened.slots, isWaiting()]).toEqual([[1n, 2n], false]);
  });

  it('that cannot be asked for waits, and holds up no fill', async () => {
    const method = 'eth_getTransactionCount';
    chain.transactionCounts = () =>
      Promise.reject(new RpcUnavailable('rpc_unavailable', { chainId: chain.chainId, method }, 'no answer'));
    await look(5);
    expect([opened.slots, isWaiting()]).toEqual([[1n], true]);
  });

  it('is not opened on an answer that is missing', async () => {
    chain.transactionCounts = async () => [];
    await look(5);
    expect([opened.slots, isWaiting()]).toEqual([[1n], true]);
  });
});
