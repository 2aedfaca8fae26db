import { beforeEach, describe, expect, it } from '@jest/globals';
import { signerKey } from '../../../src/kernel/signer-id.js';
import type { ChainConnector, HeadTracker, GasEstimate } from '../../../src/modules/chain/index.js';
import { RevertedEstimates } from '../../../src/modules/lanes/application/reverted-estimates.js';
import { SecondObservations } from '../../../src/modules/chain/application/second-observations.js';
import type { TxQueue, TxRequest } from '../../../src/modules/ledger/index.js';
import { aHash, aManagedTx, aRequest, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { type PendingTx } from '../../../src/modules/ledger/domain/tx-queue.js';

const REVERTED: GasEstimate = { kind: 'reverted', reason: 'too poor' };
const REJECTED: GasEstimate = { kind: 'rejected', message: 'too much gas' };
const OK: GasEstimate = { kind: 'ok', gas: 21_000n };

let reverted: RevertedEstimates;
/** The oldest one of the signer that is not mined; null for none. */
let oldest: string | null;
let height: number;
/** The newest block that was followed; null: as new as the look. */
let followed: number | null;
/** What happens while the oldest one is read. */
let whileRead: () => void;
/** Blocks from this number on are of another branch than those of the looks. */
let forkedFrom: number;
/** What each payload is now. */
let request: TxRequest;

beforeEach(() => {
  oldest = null;
  height = 10;
  followed = null;
  whileRead = () => undefined;
  forkedFrom = Infinity;
  request = aRequest();
  const follow: Pick<HeadTracker, 'isFollowed'> = {
    isFollowed: (_chain, { number, hash }) => (number > (followed ?? height) ? null : hashAt(number) === hash),
  };
  const repository: Pick<TxQueue, 'oldestUnmined'> = {
    oldestUnmined: async (signers) => {
      const known = oldest;
      whileRead();
      return new Map(
        signers.flatMap((signer): [string, string][] => (known === null ? [] : [[signerKey(signer), known]])),
      );
    },
  };
  reverted = new RevertedEstimates(
    repository as TxQueue,
    new SecondObservations(new FakeClock()),
    follow as HeadTracker,
  );
});

const hashAt = (number: number): ReturnType<typeof aHash> => aHash(number >= forkedFrom ? 1_000 + number : number);

/** @returns the ids that are doomed, at a later block than before */
async function look(estimates: Readonly<Record<string, GasEstimate>>, signerOf = () => aSigner()): Promise<string[]> {
  height += 1;
  const chain = { chainId: DEV_CHAIN, head: async () => ({ number: height, hash: hashAt(height) }) };
  const pending = Object.keys(estimates).map((txId): PendingTx => ({
    tx: aManagedTx({ txId, signer: signerOf() }).build(),
    request,
    expired: false,
    wasTried: false,
    isStopped: false,
    lacksPermit: false,
  }));
  const doomed = await reverted.proven(chain as ChainConnector, pending, new Map(Object.entries(estimates)));
  return [...doomed];
}

describe('a payload whose estimate says that it can never succeed', () => {
  it.each([
    ['reverts', REVERTED],
    ['is refused', REJECTED],
  ])('is doomed when it %s at two blocks', async (_how, estimate) => {
    expect(await look({ b: estimate })).toEqual([]);
    expect(await look({ b: estimate })).toEqual(['b']);
  });

  it.each<[string, (n: number) => GasEstimate]>([
    ['a time', (n) => ({ kind: 'reverted', reason: `too early: ${1_700_000_000 + n} is before 1800000000` })],
    ['a block', (n) => ({ kind: 'rejected', message: `gas required exceeds allowance at block 0x${n.toString(16)}` })],
  ])('is doomed also when its text has %s that is another each time', async (_what, at) => {
    expect(await look({ b: at(10) })).toEqual([]);
    expect(await look({ b: at(11) })).toEqual(['b']);
  });

  it('is not by two different errors', async () => {
    for (const reason of ['too early: 5', 'too late: 5', 'custom error 0x00000001', 'custom error 0x00000002'])
      expect(await look({ b: { kind: 'reverted', reason } })).toEqual([]);
  });

  it('is not while an older one of its signer is to be mined; what was seen before that proves nothing', async () => {
    await look({ b: REVERTED });
    oldest = 'a';
    expect(await look({ b: REVERTED })).toEqual([]);
    oldest = null;
    expect(await look({ b: REVERTED })).toEqual([]);
    expect(await look({ b: REVERTED })).toEqual(['b']);
  });

  // Found by seed 1134 of a wider simulator: the predecessor was mined in the database, and taken back on the chain.
  it('is not before the block of the first look was followed', async () => {
    followed = 10;
    await look({ b: REVERTED });
    expect(await look({ b: REVERTED })).toEqual([]);
    followed = 11;
    expect(await look({ b: REVERTED })).toEqual(['b']);
  });

  it('is not when that block was followed after the older ones were read', async () => {
    followed = 10;
    await look({ b: REVERTED });
    whileRead = () => {
      followed = 11;
      oldest = 'a';
    };
    expect(await look({ b: REVERTED })).toEqual([]);
    expect(await look({ b: REVERTED })).toEqual([]);
  });

  it('is not by a first look on a branch that is gone', async () => {
    await look({ b: REVERTED });
    forkedFrom = 11;
    expect(await look({ b: REVERTED })).toEqual([]);
    expect(await look({ b: REVERTED })).toEqual([]);
    expect(await look({ b: REVERTED })).toEqual(['b']);
  });

  it('is not kept waiting by a younger one, nor by itself', async () => {
    for (oldest of ['b', 'c']) {
      await look({ b: REVERTED });
      expect(await look({ b: REVERTED })).toEqual(['b']);
    }
  });

  it('is not while an older one of the same look is ready', async () => {
    await look({ b: REVERTED });
    expect(await look({ a: OK, b: REVERTED })).toEqual([]);
    expect(await look({ b: REVERTED, c: OK })).toEqual([]);
    expect(await look({ a: REVERTED, b: REVERTED, c: OK })).toEqual(['b']);
  });

  it('is not kept waiting by another signer', async () => {
    let n = 0;
    const each = (): ReturnType<typeof aSigner> => aSigner((n += 1));
    await look({ a: OK, b: REVERTED }, each);
    n = 0;
    expect(await look({ a: OK, b: REVERTED }, each)).toEqual(['b']);
  });

  it('is not by a look from before its client replaced the payload', async () => {
    await look({ b: REVERTED });
    request = { ...aRequest(), payload: { ...aRequest().payload, value: 17n } };
    expect(await look({ b: REVERTED })).toEqual([]);
    expect(await look({ b: REVERTED })).toEqual(['b']);
  });

  it('needs two looks with the same words', async () => {
    await look({ b: REVERTED });
    expect(await look({ b: { kind: 'reverted', reason: 'too late' } })).toEqual([]);
  });
});
