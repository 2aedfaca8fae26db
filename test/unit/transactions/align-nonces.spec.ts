import { beforeEach, describe, expect, it } from '@jest/globals';
import { NonceConfig } from '../../../src/config/index.js';
import { signerKey } from '../../../src/kernel/signer-id.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { NonceLedger } from '../../../src/modules/signers/index.js';
import { AlignNonces } from '../../../src/modules/transactions/application/align-nonces.js';
import { LaneMemory } from '../../../src/modules/transactions/application/lane-memory.js';
import type { CommittedCursors } from '../../../src/modules/transactions/application/lost-commits/committed-cursors.js';
import { SecondLooks } from '../../../src/modules/transactions/application/second-looks.js';
import { aHash, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const CURSOR = 5n;

let block: number;
let align: AlignNonces;

beforeEach(() => {
  const clock = new FakeClock();
  block = 7;
  align = new AlignNonces(
    { cursors: async () => new Map([[signerKey(SIGNER), CURSOR]]) } as unknown as NonceLedger,
    new LaneMemory(clock),
    new SecondLooks(clock),
    { expect: () => undefined } as unknown as CommittedCursors,
    new NonceConfig(),
    new RecordingLog(),
  );
});

/** A look at a new block. @returns where the cursor must be at least; null when the signer is held */
async function look(toldByOne: bigint, lowestOfAll: bigint | null): Promise<bigint | null> {
  block += 1;
  const count = lowestOfAll === null ? null : { nonce: lowestOfAll, block: { number: block, hash: aHash(block) } };
  const chain = { transactionCounts: async () => [toldByOne], agreedCounts: async () => [count] };
  const { nonces, held } = await align.execute(chain as unknown as ChainConnector, [LEASE]);
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
