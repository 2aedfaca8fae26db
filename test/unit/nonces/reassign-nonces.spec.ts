import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import { ReassignNonces } from '../../../src/modules/nonces/application/reassign-nonces.js';
import type { NonceLedger } from '../../../src/modules/signers/index.js';
import type {
  Attempt,
  AttemptRepository,
  LaneMemory,
  ManagedTx,
  ManagedTxRepository,
  TxMetrics,
} from '../../../src/modules/transactions/index.js';
import type { ForeignNonces } from '../../../src/modules/nonces/index.js';
import { aHash, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { ourWork } from '../confirmations/txs-in-memory.js';

const SIGNER = aSigner();
const KNOWN = anAttempt({ txId: 'tx-1', signer: SIGNER, nonce: 4n, txHash: aHash(1) });

/** The transaction of somebody else that has the nonce. */
const USER = aHash(0xf0);

/** As much of a tx as is looked at; remembers to whom it gave its nonce up. */
const aTx = () => ({ id: 'tx-1', signer: SIGNER, nonce: 4n, isInDoubt: true, movedFor: null as Hash | null });

let read: ReturnType<typeof aTx>;
let attempts: readonly Attempt[];
let hashesAsked: Hash[];
/** What is done for a payload that moves, in order. */
let done: string[];
let move: ReassignNonces;

beforeEach(() => {
  read = aTx();
  attempts = [KNOWN];
  [hashesAsked, done] = [[], []];
  const does = (what: string) => async () => void done.push(what);
  const says = (what: string) => () => void done.push(what);
  move = new ReassignNonces(
    new ModelChains(new ModelChain()),
    {
      execute: async (_: unknown, slots: readonly { readonly hashes: readonly Hash[] }[]) => {
        hashesAsked.push(...slots.flatMap(({ hashes }) => hashes));
        return slots.map((slot) => ({ ...slot, usedBy: USER }));
      },
    } as unknown as ForeignNonces,
    ourWork,
    new UnfencedWork(),
    {
      byIds: async () => [Object.assign(read, { nonceTaken: (usedBy: Hash) => void (read.movedFor = usedBy) })],
      save: does('the tx is saved'),
    } as unknown as ManagedTxRepository,
    { consume: does('its slot is consumed') } as unknown as NonceLedger,
    { ofSlots: async () => attempts, decide: does('its attempts have lost') } as unknown as AttemptRepository,
    {
      distrustNonce: says('the nonce is aligned'),
      madeRoom: says('there is room'),
    } as unknown as LaneMemory,
    { ring: says('the lane goes on') },
    { entered: says('it is counted') } as unknown as TxMetrics,
    new RecordingLog(),
  );
});

async function moves(known: readonly Attempt[] = [KNOWN]): Promise<boolean> {
  await move.execute(DEV_CHAIN, [{ tx: aTx() as unknown as ManagedTx, attempts: known }]);
  return done.length > 0;
}

describe('a payload whose nonce is proven taken', () => {
  it('gives it up to what has it, and its lane goes on with another', async () => {
    await moves();
    expect(read.movedFor).toBe(USER);
    expect(done).toEqual([
      'its slot is consumed',
      'its attempts have lost',
      'the tx is saved',
      'it is counted',
      'the nonce is aligned',
      'there is room',
      'the lane goes on',
    ]);
  });

  it('gives it up on a proof of all its attempts', async () => {
    attempts = [KNOWN, anAttempt({ ...KNOWN, txHash: aHash(2) })];
    expect(await moves(attempts)).toBe(true);
    expect(hashesAsked).toEqual([aHash(1), aHash(2)]);
  });

  it('gives it up whatever attempts another tx has', async () => {
    attempts = [KNOWN, anAttempt({ ...KNOWN, txId: 'tx-2', txHash: aHash(2) })];
    expect(await moves()).toBe(true);
  });

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
