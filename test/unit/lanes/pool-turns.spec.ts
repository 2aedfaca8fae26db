import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Candidate, PoolTurns } from '../../../src/modules/lanes/application/pool-turns.js';
import {
  type InFlightLimits,
  type TxsInFlight,
  type PoolKind,
  type TxPayload,
} from '../../../src/modules/ledger/index.js';
import { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import { aHash, aManagedTx, anAddress, aRequest, aSigner } from '../../support/builders.js';
import { AuthorizationTurns } from '../../../src/modules/nonces/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { inFlightLimits } from '../../support/in-flight-limits.js';

const LEASE = { signer: aSigner(), owner: 'node', token: 1n };
const BLOB = { blobHashes: [aHash(1)] };
const OWN = { authorizationList: [{ chainId: 1n, address: anAddress(3), signer: aSigner().address }] };

let clock: FakeClock;
let memory: LaneMemory;
let inFlight: PoolKind | null;
/** How many signers each read was for. */
let reads: number[];
let limits: InFlightLimits;
/** Whether the signer is to sign an authorization for another one. */
let isHeldBack: boolean;
let turns: PoolTurns;

beforeEach(() => {
  clock = new FakeClock();
  memory = new LaneMemory(clock);
  memory.recovered([LEASE]);
  [inFlight, reads] = [null, []];
  limits = inFlightLimits();
  const repository = {
    kindsInFlight: async (signers: readonly unknown[]) => (reads.push(signers.length), signers.map(() => inFlight)),
  };
  isHeldBack = false;
  const authorizations = fakeOf(AuthorizationTurns, { isHeldBack: () => isHeldBack });
  turns = new PoolTurns(repository as unknown as TxsInFlight, memory, limits, authorizations);
});

function candidate(txId: string, extra: Partial<TxPayload> = {}, signer = aSigner()): Candidate {
  const { payload } = aRequest();
  return { tx: aManagedTx({ txId, signer }).build(), request: { payload: { ...payload, ...extra } } };
}

const held = async (...items: readonly Candidate[]): Promise<string[]> => [...(await turns.waiting(items))];

describe('payloads without blobs', () => {
  it('cost one read of the database for each lease, and none after it', async () => {
    inFlight = 'plain';
    for (let step = 0; step < 3; step += 1) expect(await held(candidate('a'), candidate('b'))).toEqual([]);
    expect(reads).toEqual([1]);
  });

  it('wait while blobs are in flight, and are looked after until those are mined', async () => {
    inFlight = 'blob';
    expect(await held(candidate('a'))).toEqual(['a']);
    inFlight = null;
    expect(await held(candidate('a'))).toEqual([]);
    expect(await held(candidate('b'))).toEqual([]);
    expect(reads).toEqual([1, 1]);
  });

  it('of one signer do not wait for the blobs of another', async () => {
    const other = candidate('other', {}, aSigner(2));
    inFlight = 'plain';
    await held(candidate('a'));
    expect(await held(candidate('blob', BLOB), candidate('a'), other)).toEqual(['blob']);
  });
});

describe('payloads with blobs', () => {
  it('wait until nothing else is in flight, and meanwhile nothing else gets a nonce', async () => {
    inFlight = 'plain';
    expect(await held(candidate('plain'), candidate('blob', BLOB))).toEqual(['blob']);
    expect(await held(candidate('later'))).toEqual(['later']);
    inFlight = null;
    expect(await held(candidate('later'), candidate('blob', BLOB))).toEqual(['later']);
  });

  it('lose their turn when they are not seen again, so that a cancelled one stops nothing', async () => {
    inFlight = 'plain';
    await held(candidate('blob', BLOB));
    expect(await held(candidate('later'))).toEqual(['later']);
    clock.advance(10_001);
    expect(await held(candidate('later'))).toEqual([]);
  });
});

describe('a signer that is to sign an authorization for another one', () => {
  it('gives no nonces to its payloads meanwhile, but to those that others have signed for', async () => {
    await held();
    const signed = {
      chainId: 1n,
      address: anAddress(3),
      authority: aSigner(2).address,
      nonce: 7n,
      yParity: 0,
    } as const;
    const granted = { authorizationList: [{ ...signed, r: aHash(1), s: aHash(2) }] };
    memory.kindsSeen(aSigner(), null, false);
    isHeldBack = true;
    expect(await held(candidate('plain'), candidate('granted', granted))).toEqual(['plain']);
    inFlight = 'alone';
    expect(await held(candidate('granted', granted))).toEqual(['granted']);
    inFlight = null;
    isHeldBack = false;
    expect(await held(candidate('plain'))).toEqual([]);
  });
});

describe('a payload that authorizes its own account', () => {
  it('is in flight alone', async () => {
    expect(await held(candidate('own', OWN), candidate('plain'), candidate('again', OWN))).toEqual(['plain', 'again']);
    inFlight = 'alone';
    expect(await held(candidate('plain'))).toEqual(['plain']);
    inFlight = 'plain';
    expect(await held(candidate('own', OWN))).toEqual(['own']);
  });

  it('has the code of its account read after it, and one that still waits does not', async () => {
    const isReadAfter = (): boolean => (limits.madeRoom([aSigner()]), limits.mustLook(aSigner()));
    inFlight = 'plain';
    await held(candidate('own', OWN));
    expect(isReadAfter()).toBe(false);
    inFlight = null;
    await held(candidate('own', OWN));
    expect(isReadAfter()).toBe(true);
  });
});
