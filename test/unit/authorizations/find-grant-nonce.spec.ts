import { beforeEach, expect, it } from '@jest/globals';
import { signerKey } from '../../../src/kernel/signer-id.js';
import { FindGrantNonce } from '../../../src/modules/authorizations/application/find-grant-nonce.js';
import type { AgreedCount } from '../../../src/modules/chain/domain/agreed-count.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { AdmitLanes } from '../../../src/modules/lost-commits/index.js';
import type { AlignNonces } from '../../../src/modules/nonces/index.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import { LaneMemory } from '../../../src/modules/transactions/index.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { AUTHORITY, LEASE } from './grant-fixture.js';

const AT_SEVEN = [{ signer: AUTHORITY, nonce: 7n }];

let admitted: Lease[];
let agreed: Pick<AgreedCount, 'nonce'> | null;
let aligned: Awaited<ReturnType<AlignNonces['execute']>>;
let memory: LaneMemory;
let find: FindGrantNonce;

const chain = { agreedCounts: async () => [agreed] } as unknown as ChainConnector;

beforeEach(() => {
  [admitted, agreed, aligned] = [[LEASE], { nonce: 7n }, { nonces: AT_SEVEN, held: new Set() }];
  memory = new LaneMemory(new FakeClock());
  memory.aligned([LEASE]);
  find = new FindGrantNonce(
    { execute: async () => admitted } as unknown as AdmitLanes,
    {
      // It asks the chain only when the nonce is in doubt.
      execute: async () => (memory.needsAlignment(LEASE, 60_000) ? aligned : { nonces: [], held: new Set() }),
    } as unknown as AlignNonces,
    memory,
  );
});

it('the nonce is the one on which the endpoints agree, and the cursor is aligned again', async () => {
  expect(await find.execute(chain, LEASE)).toEqual({ nonce: 7n, chainNonces: AT_SEVEN });
});

it('there is none while the sent transactions of the signer are not known', async () => {
  admitted = [];
  expect(await find.execute(chain, LEASE)).toBeNull();
});

it('there is none while the endpoints do not agree', async () => {
  agreed = null;
  expect(await find.execute(chain, LEASE)).toBeNull();
});

it('there is none while foreign transactions of the signer are not proven', async () => {
  aligned = { nonces: [], held: new Set([signerKey(AUTHORITY)]) };
  expect(await find.execute(chain, LEASE)).toBeNull();
});
