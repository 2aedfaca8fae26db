import { beforeEach, expect, it } from '@jest/globals';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { FindGrantNonce } from '../../../src/modules/nonces/application/grant-authorization.js';
import type { AgreedCount, ChainConnector } from '../../../src/modules/chain/index.js';
import { AdmitLanes } from '../../../src/modules/lost-commits/index.js';
import { AlignNonces, FillNonceGaps } from '../../../src/modules/nonces/index.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import { LaneMemory } from '../../../src/modules/ledger/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { AUTHORITY, LEASE } from './grant-fixture.js';

const AT_SEVEN = [{ signer: AUTHORITY, nonce: 7n }];

let admitted: Lease[];
let rung: SignerId[];
let filled: unknown[];
const AGREED: AgreedCount = { nonce: 7n, block: { number: 1, hash: aHash(1) } };
let aligned: Awaited<ReturnType<AlignNonces['execute']>>;
let told: unknown;
let memory: LaneMemory;
let nonces: FindGrantNonce;

/** Asking it anything fails. */
const chain = { chainId: AUTHORITY.chainId } as ChainConnector;

beforeEach(() => {
  [admitted, rung, aligned] = [[LEASE], [], { nonces: AT_SEVEN, held: new Set() }];
  [told, filled] = [undefined, []];
  memory = new LaneMemory(new FakeClock());
  memory.recovered([LEASE]);
  memory.aligned([LEASE]);
  nonces = new FindGrantNonce(
    fakeOf(AdmitLanes, { execute: async () => admitted }),
    fakeOf(AlignNonces, {
      // It asks the chain only when the nonce is in doubt.
      execute: async (said: ChainConnector) => {
        told = [await said.transactionCounts([], 'latest'), await said.agreedCounts([], 'latest')];
        return memory.needsAlignment(LEASE, 60_000) ? aligned : { nonces: [], held: new Set() };
      },
    }),
    fakeOf(FillNonceGaps, { fillAll: async (...asked) => void filled.push(asked) }),
    memory,
    { ring: (signers) => void rung.push(...signers) },
  );
});

it('the nonce is the one on which the endpoints agree, and the cursor is aligned again', async () => {
  expect(await nonces.find(chain, LEASE, AGREED)).toEqual({ nonce: 7n, chainNonces: AT_SEVEN });
  expect(told).toEqual([[7n], [AGREED]]);
});

it('a nonce that no payload gets is filled when the one of the chain is not the next one here', async () => {
  await nonces.free(chain, LEASE);
  expect(filled).toEqual([[AUTHORITY.chainId, LEASE]]);
});

it('there is none while the sent transactions of the signer are not known', async () => {
  admitted = [];
  expect(await nonces.find(chain, LEASE, AGREED)).toBeNull();
});

it('there is none before the lane of the signer was recovered, which asks the chain, and which is woken', async () => {
  memory.forgetAll();
  expect([await nonces.find(chain, LEASE, AGREED), told]).toEqual([null, undefined]);
  expect(rung).toEqual([AUTHORITY]);
});

it('there is none while foreign transactions of the signer are not proven', async () => {
  aligned = { nonces: [], held: new Set([signerKey(AUTHORITY)]) };
  expect(await nonces.find(chain, LEASE, AGREED)).toBeNull();
});
