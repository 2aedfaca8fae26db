import { beforeEach, describe, expect, it } from '@jest/globals';
import { NonceConfig } from '../../../src/config/index.js';
import { signerKey } from '../../../src/kernel/signer-id.js';
import { type ChainConnector, SecondObservations } from '../../../src/modules/chain/index.js';
import { NonceLedger } from '../../../src/modules/signers/index.js';
import { AlignNonces } from '../../../src/modules/nonces/application/align-nonces.js';
import { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import { CommittedCursors } from '../../../src/modules/lost-commits/application/committed-cursors.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const CURSOR = 5n;

let block: number;
let config: NonceConfig;
let memory: LaneMemory;
/** Null for a signer that never had one. */
let cursor: bigint | null;
let calls: unknown[][];
let align: AlignNonces;

beforeEach(() => {
  const clock = new FakeClock();
  block = 7;
  [cursor, calls, memory] = [CURSOR, [], new LaneMemory(clock)];
  config = new NonceConfig();
  align = new AlignNonces(
    fakeOf(NonceLedger, {
      cursors: async (signers) => {
        calls.push(['cursors', signers]);
        return new Map(cursor === null ? [] : [[signerKey(SIGNER), cursor]]);
      },
    }),
    memory,
    new SecondObservations(clock),
    fakeOf(CommittedCursors, { expect: (signers) => void calls.push(['expect', signers]) }),
    config,
    new RecordingLog(),
  );
});

/** A look at a new block. @returns where the cursor must be at least; null when the signer is held */
async function look(toldByOne: bigint, lowestOfAll: bigint | null): Promise<bigint | null> {
  block += 1;
  const count = lowestOfAll === null ? null : { nonce: lowestOfAll, block: { number: block, hash: aHash(block) } };
  const chain = {
    transactionCounts: async (...args: unknown[]) => (calls.push(['one', ...args]), [toldByOne]),
    agreedCounts: async (...args: unknown[]) => (calls.push(['all', ...args]), [count]),
  };
  const { nonces, held } = await align.execute(chain, [LEASE]);
  expect(held.has(signerKey(SIGNER))).toBe(nonces.length === 0);
  return nonces[0]?.nonce ?? null;
}

describe('a count above the cursor', () => {
  it('raises it when the lowest of all endpoints is above it, too, in two looks', async () => {
    expect([await look(9n, 8n), await look(9n, 9n)]).toEqual([null, 8n]);
  });

  it('of one endpoint alone raises nothing, and holds nobody', async () => {
    expect(await look(9n, CURSOR)).toBe(CURSOR);
  });

  it('holds the signer while too few endpoints tell theirs', async () => {
    expect([await look(9n, null), await look(9n, null)]).toEqual([null, null]);
  });

  it('needs two looks anew when one in between did not say so, of all endpoints or of the one', async () => {
    for (const refuted of [() => look(9n, CURSOR), () => look(CURSOR, null)]) {
      expect(await look(9n, 9n)).toBeNull();
      expect(await refuted()).toBe(CURSOR);
      expect([await look(9n, 9n), await look(9n, 9n)]).toEqual([null, 9n]);
    }
  });
});

describe('the chain', () => {
  it('is asked for the signer, after what the database must know; all endpoints only where one says more', async () => {
    expect(await look(CURSOR, null)).toBe(CURSOR);
    expect(calls).toEqual([
      ['cursors', [SIGNER]],
      ['expect', [SIGNER]],
      ['one', [SIGNER.address], config.chainQuery.mode],
    ]);
    await look(9n, 9n);
    expect(calls.at(-1)).toEqual(['all', [SIGNER.address], config.chainQuery.mode]);
  });

  it('is asked for nothing so soon after an alignment', async () => {
    memory.aligned([LEASE]);
    expect([await align.execute({} as ChainConnector, [LEASE]), calls]).toEqual([{ nonces: [], held: new Set() }, []]);
  });

  it('is asked at the start of a sequence', async () => {
    cursor = null;
    expect([await look(9n, 9n), await look(9n, 9n)]).toEqual([null, 9n]);
  });
});

it('a look at one signer is none at another', async () => {
  const [theirs, count] = [aSigner(2), (number: number) => ({ nonce: 9n, block: { number, hash: aHash(number) } })];
  const chain = (number: number) =>
    fakeOf(EthersChainConnector, { transactionCounts: async () => [9n], agreedCounts: async () => [count(number)] });
  await align.execute(chain(8), [LEASE]);
  const { nonces } = await align.execute(chain(9), [{ ...LEASE, signer: theirs }]);
  expect(nonces).toEqual([]);
});
