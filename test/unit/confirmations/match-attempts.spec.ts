import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Hash, parseHash } from '../../../src/kernel/hex.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { type Block, VerifiedReceipts } from '../../../src/modules/chain/index.js';
import { MatchAttempts, type RecheckReceipts } from '../../../src/modules/confirmations/application/match-attempts.js';
import type { MinedAttempt, RecordMined } from '../../../src/modules/confirmations/application/record-mined.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import type { Attempt, AttemptRepository } from '../../../src/modules/ledger/index.js';
import { anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const OURS = aSigner(1);
const LATE = aSigner(2);

let chain: ModelChain;
/** Whose leases this node has. */
let held: readonly SignerId[];
let known: Attempt[];
/** Hashes of what was given to be written, a list for each block. */
let recorded: Hash[][];
/** Of what is given to be written, what cannot be written now. */
let unwritten: (mined: readonly MinedAttempt[]) => MinedAttempt[];
/** Hashes of what is to be asked for again, a list for each time. */
let asked: Hash[][];
/** Of that, what cannot be noted now. */
let unnoted: (attempts: readonly Attempt[]) => Attempt[];
let match: MatchAttempts;

beforeEach(() => {
  chain = new ModelChain();
  held = [OURS];
  [known, recorded, asked] = [[], [], []];
  unwritten = () => [];
  unnoted = () => [];
  match = new MatchAttempts(
    new ModelChains(chain),
    { held: (signer: SignerId) => (held.includes(signer) ? {} : null) } as unknown as LeaseManager,
    {
      byHashes: async (_chain: unknown, hashes: readonly Hash[]) =>
        known.filter(({ txHash }) => hashes.includes(txHash)),
    } as unknown as AttemptRepository,
    {
      execute: async (_chain: unknown, mined: readonly MinedAttempt[]) => {
        recorded.push(mined.map(({ receipt }) => receipt.txHash));
        return unwritten(mined);
      },
    } as unknown as RecordMined,
    {
      execute: async (_chain: unknown, attempts: readonly Attempt[]) => {
        asked.push(attempts.map(({ txHash }) => txHash));
        return unnoted(attempts);
      },
    } as unknown as RecheckReceipts,
    new VerifiedReceipts(new RecordingLog()),
  );
});

/** An attempt of the signer that is mined in the next block. */
function mined(signer: SignerId, nonce = 0n): Hash {
  const { hash } = chain.sendForeign(signer.address, nonce);
  known.push(anAttempt({ signer, nonce, txHash: hash }));
  return hash;
}

const matched = (...blocks: readonly Block[]): Promise<void> => match.execute(DEV_CHAIN, blocks);

describe('what a block has of ours', () => {
  it('is written with its receipt, block by block, and nothing of it is asked for again', async () => {
    const [first, second] = [mined(OURS, 0n), mined(OURS, 1n)];
    const blocks = [chain.mine(1), chain.mine(1)];
    await matched(...blocks);
    expect(recorded).toEqual([[first], [second]]);
    expect(asked).toEqual([[], []]);
  });

  it('is asked for again when it could not be written, and only that', async () => {
    const hashes = [mined(OURS, 0n), mined(OURS, 1n)];
    unwritten = (items) => items.filter(({ receipt }) => receipt.txHash === hashes[1]);
    await matched(chain.mine());
    expect(recorded).toEqual([hashes]);
    expect(asked).toEqual([[], [hashes[1]]]);
  });

  it('is asked for again when the node has no receipt for it', async () => {
    const hash = mined(OURS);
    chain.faults.receipt = () => ({ kind: 'none' });
    await matched(chain.mine());
    expect(asked).toEqual([[], [hash]]);
  });

  it('is asked for with the next block when that cannot be noted, and so on until it can', async () => {
    const hash = mined(OURS);
    chain.faults.receipt = () => ({ kind: 'none' });
    unnoted = (attempts) => [...attempts];
    await matched(chain.mine());
    await matched();
    unnoted = () => [];
    await matched();
    await matched();
    expect(asked).toEqual([[], [hash], [hash], [hash], []]);
  });

  it('costs no question for receipts in blocks that have nothing of ours', async () => {
    mined(OURS);
    const block = chain.mine();
    const empty = chain.mine();
    const questions = [jest.spyOn(chain, 'receipts'), jest.spyOn(chain, 'blockReceipts')];
    await matched(empty, block);
    expect(questions.map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
  });
});

describe('what a block has of a signer whose lease is renewed late', () => {
  it('is asked for with the next block, also beside one of ours', async () => {
    const [ours, late] = [mined(OURS), mined(LATE)];
    await matched(chain.mine());
    expect([recorded, asked]).toEqual([[[ours]], [[], []]]);
    await matched();
    expect(asked.slice(2)).toEqual([[late]]);
    await matched();
    expect(asked.slice(3)).toEqual([[]]);
  });

  it('is asked for with the next block also when the block has nothing else', async () => {
    const late = mined(LATE);
    await matched(chain.mine());
    await matched();
    expect(asked).toEqual([[], [late]]);
  });
});

it('a receipt that names another attempt is not written: it is none of ours', async () => {
  const [hash] = [mined(OURS), mined(OURS, 1n)];
  const block = chain.mine();
  const foreign = parseHash(`0x${'ee'.repeat(32)}`);
  const honest = chain.blockReceipts.bind(chain);
  chain.blockReceipts = async (asking) => {
    const answer = await honest(asking);
    return (
      answer && {
        ...answer,
        receipts: answer.receipts.map((receipt) =>
          receipt.txHash === hash ? { ...receipt, txHash: foreign } : receipt,
        ),
      }
    );
  };
  await matched(block);
  expect(recorded).toEqual([[known[1]?.txHash]]);
  expect(asked).toEqual([[], [hash]]);
});
