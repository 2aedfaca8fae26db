import { beforeEach, describe, expect, it } from '@jest/globals';
import { MoveTaken } from '../../../src/modules/confirmations/application/move-taken.js';
import type { FencedUnitOfWork, Lease, NonceLedger } from '../../../src/modules/signers/index.js';
import type {
  Attempt,
  AttemptRepository,
  LaneMemory,
  LeasedWork,
  ManagedTx,
  ManagedTxRepository,
  TakenSlots,
  TxMetrics,
} from '../../../src/modules/transactions/index.js';
import { aHash, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const KNOWN = anAttempt({ txId: 'tx-1', signer: SIGNER, nonce: 4n, txHash: aHash(1) });

/** As much of a tx as is looked at; remembers that it gave its nonce up. */
const aTx = () => ({ id: 'tx-1', signer: SIGNER, nonce: 4n, isInDoubt: true, moved: false });

let read: ReturnType<typeof aTx>;
let attempts: readonly Attempt[];
let move: MoveTaken;

beforeEach(() => {
  read = aTx();
  attempts = [KNOWN];
  const nothing = async (): Promise<void> => undefined;
  move = new MoveTaken(
    new ModelChains(new ModelChain()),
    {
      execute: async (_: unknown, slots: readonly object[]) => slots.map((slot) => ({ ...slot, usedBy: null })),
    } as unknown as TakenSlots,
    {
      run: async (_: unknown, items: unknown, task: (leases: readonly Lease[], share: unknown) => Promise<void>) =>
        task([], items),
    } as unknown as LeasedWork,
    {
      run: (_: unknown, __: unknown, work: (fence: object) => Promise<void>) => work({}),
    } as unknown as FencedUnitOfWork,
    {
      byIds: async () => [Object.assign(read, { nonceTaken: () => void (read.moved = true) })],
      save: nothing,
    } as unknown as ManagedTxRepository,
    { consume: nothing } as unknown as NonceLedger,
    { ofSlots: async () => attempts, decide: nothing } as unknown as AttemptRepository,
    { distrustNonce: () => undefined, madeRoom: () => undefined } as unknown as LaneMemory,
    { ring: () => undefined },
    { entered: () => undefined } as unknown as TxMetrics,
    new RecordingLog(),
  );
});

async function moves(): Promise<boolean> {
  await move.execute(DEV_CHAIN, [{ tx: aTx() as unknown as ManagedTx, attempts: [KNOWN] }]);
  return read.moved;
}

describe('a payload whose nonce is proven taken', () => {
  it('gives it up', async () => expect(await moves()).toBe(true));

  it('keeps it when it got another attempt since: the proof is of the others only', async () => {
    attempts = [KNOWN, anAttempt({ ...KNOWN, txHash: aHash(2) })];
    expect(await moves()).toBe(false);
  });

  it('keeps the nonce that it has by now, if that is another one', async () => {
    read.nonce = 5n;
    expect(await moves()).toBe(false);
  });

  it('keeps it when it is in doubt no more', async () => {
    read.isInDoubt = false;
    expect(await moves()).toBe(false);
  });
});
