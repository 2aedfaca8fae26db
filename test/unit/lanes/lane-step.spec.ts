import { beforeEach, describe, expect, it } from '@jest/globals';
import { Unavailable } from '../../../src/kernel/errors.js';
import { sameSigner, type SignerId } from '../../../src/kernel/signer-id.js';
import { type FeeQuote } from '../../../src/modules/chain/index.js';
import { AllocateNonces } from '../../../src/modules/lanes/application/allocate-nonces.js';
import { LaneStep } from '../../../src/modules/lanes/application/lane-step.js';
import { PreparePending, type ReadyTx } from '../../../src/modules/lanes/application/prepare-pending.js';
import { ResumeLanes } from '../../../src/modules/lanes/application/resume-lanes.js';
import { FillNonceGaps } from '../../../src/modules/nonces/index.js';
import { BroadcastAttempts, SignAttempts } from '../../../src/modules/sending/index.js';
import { type Lease, LeaseLost, LeaseManager } from '../../../src/modules/signers/index.js';
import { LaneMemory } from '../../../src/modules/ledger/index.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aManagedTx, aRequest, aSigner, DEV_CHAIN, aFeeQuote, anAttempt } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const QUOTE = aFeeQuote();
const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };
const OTHER: Lease = { signer: aSigner(2), owner: 'node', token: 2n };

let memory: LaneMemory;
/** Leases that this node has or gets. */
let leases: Lease[];
/** What the lanes do with a share of the leases before they go on. */
let resume: (share: readonly Lease[]) => readonly Lease[];
let ready: ReadyTx[];
/** Signers with more waiting than fitted. */
let full: SignerId[];
/** Signers in whose queue something was set aside. */
let cleared: SignerId[];
/** Ids of ready txs that get no nonce, and of those that cannot be written. */
let gone: Set<string>;
let poison: Set<string>;
/** Ids of ready txs that the nodes refuse. */
let refused: Set<string>;
/** What the steps did, in order. */
let calls: unknown[][];
/** The leases that were lost, and the signers that failed. */
let lost: Lease[];
let failed: [SignerId, unknown][];
let feeQuote: () => Promise<FeeQuote>;
let lanes: LaneStep;

const CHAIN = fakeOf(EthersChainConnector, { chainId: DEV_CHAIN, feeQuote: () => (calls.push(['quote']), feeQuote()) });

beforeEach(() => {
  memory = new LaneMemory(new FakeClock());
  [leases, resume, lost, failed] = [[LEASE, OTHER], (share) => share, [], []];
  [ready, full, cleared, gone, poison, refused, calls] = [[], [], [], new Set(), new Set(), new Set(), []];
  feeQuote = () => Promise.resolve(QUOTE);
  memory.recovered(leases);
  lanes = new LaneStep(
    fakeOf(LeaseManager, {
      acquireOrRenew: async (signers) =>
        leases.filter(({ signer }) => signers.some((each) => sameSigner(each, signer))),
      lost: (error) => void lost.push(...error.leases),
    }),
    memory,
    fakeOf(ResumeLanes, {
      execute: async (chain, share) => (calls.push(['resume', chain, share]), resume(share)),
      close: async (chainId, share, txs) => void calls.push(['close', chainId, share, ...txs.map(({ id }) => id)]),
    }),
    fakeOf(PreparePending, {
      execute: async (...args) => (calls.push(['prepare', ...args]), { ready, full, cleared }),
      quarantine: async (_leases, { tx }, error) => void calls.push(['aside', tx.id, error]),
    }),
    fakeOf(AllocateNonces, {
      execute: async (chain, share, some, setAside) => {
        calls.push(['allocate', chain, share, some.map(({ tx }) => tx.id)]);
        for (const item of some) if (poison.has(item.tx.id)) await setAside(item, 'cannot be written');
        return some.filter(({ tx }) => !gone.has(tx.id) && !poison.has(tx.id));
      },
    }),
    fakeOf(SignAttempts, {
      execute: async (quote, _leases, some) => {
        calls.push(['sign', quote, ...some.map(({ tx }) => tx.id)]);
        return some.map(({ tx }) => ({ tx, attempt: anAttempt({ txId: tx.id }) }));
      },
    }),
    fakeOf(BroadcastAttempts, {
      execute: async (chain, _leases, signed) => {
        calls.push(['send', chain, ...signed.map(({ attempt }) => `signed ${attempt.txId}`)]);
        return signed.map(({ tx }) => tx).filter(({ id }) => refused.has(id));
      },
    }),
    fakeOf(FillNonceGaps, { execute: async (...args) => void calls.push(['fill gaps', ...args]) }),
  );
});

const step = (...all: readonly Lease[]): Promise<SignerId[]> =>
  lanes.step(
    CHAIN,
    all.map(({ signer }) => signer),
    (...failure) => failed.push(failure),
  );
const aReady = (txId: string, { signer } = LEASE): ReadyTx => ({
  tx: aManagedTx({ txId, signer }).build(),
  request: aRequest({ signer }),
  gasLimit: 21_000n,
});
const callsOf = (...names: readonly string[]): unknown[][] =>
  calls.filter(([name]) => names.some((each) => each === name));
const sharesOf = (name: string): unknown[] => callsOf(name).map((call) => call.find(Array.isArray));
const startAnew = (): boolean[] => [LEASE, OTHER].map((lease) => memory.needsRecovery(lease));

describe('a step', () => {
  it('sends no-ops for what the nodes refused, before its signers look for gaps', async () => {
    ready = [aReady('a'), aReady('b')];
    refused.add('b');
    await step(LEASE);
    expect(callsOf('send', 'close', 'fill gaps').slice(1)).toEqual([
      ['close', DEV_CHAIN, [LEASE], 'b'],
      ['fill gaps', DEV_CHAIN, [LEASE]],
    ]);
  });

  it('is one for all signers that share it, and tells which have more waiting', async () => {
    [ready, full] = [[aReady('a', OTHER)], [OTHER.signer]];
    expect(await step(LEASE, OTHER)).toEqual([OTHER.signer]);
    expect(sharesOf('resume')).toEqual([[LEASE, OTHER]]);
    expect(startAnew()).toEqual([false, false]);
  });

  it('is none for signers of other nodes', async () => {
    leases = [];
    expect([await step(LEASE), calls]).toEqual([[], []]);
  });

  it('finishes what was left, prepares what waits, gives nonces when the fees are known, signs, sends, and then fills gaps', async () => {
    ready = [aReady('a'), aReady('b')];
    await step(LEASE, OTHER);
    const all = [LEASE, OTHER];
    expect(calls).toEqual([
      ['resume', CHAIN, all],
      ['prepare', CHAIN, all],
      ['quote'],
      ['allocate', CHAIN, all, ['a', 'b']],
      ['sign', QUOTE, 'a', 'b'],
      ['send', CHAIN, 'signed a', 'signed b'],
      ['close', DEV_CHAIN, all],
      ['fill gaps', DEV_CHAIN, all],
    ]);
  });

  it('takes no nonce when nothing is ready', async () => {
    await step(LEASE, OTHER);
    expect(calls.map(([name]) => name)).toEqual(['resume', 'prepare', 'fill gaps']);
  });

  it('takes no nonce while the chain tells no fees: nothing could be signed', async () => {
    [ready, feeQuote] = [[aReady('a')], () => Promise.reject(new Error('no fees'))];
    await expect(step(LEASE)).rejects.toThrow('no fees');
    expect(callsOf('allocate')).toEqual([]);
  });

  it('prepares and sends nothing for a signer whose lane does not go on', async () => {
    [resume, ready] = [() => [OTHER], [aReady('a', OTHER)]];
    await step(LEASE, OTHER);
    expect(['prepare', 'allocate', 'fill gaps'].flatMap(sharesOf)).toEqual(new Array(3).fill([OTHER]));
  });

  it('sets aside what can get no nonce, and sends the others', async () => {
    [ready, poison] = [['a', 'poison', 'c'].map((txId) => aReady(txId)), new Set(['poison'])];
    await step(LEASE);
    expect(callsOf('aside', 'sign')).toEqual([
      ['aside', 'poison', 'cannot be written'],
      ['sign', QUOTE, 'a', 'c'],
    ]);
  });
});

describe('a step that fails', () => {
  it('begins with what is written the next time', async () => {
    resume = () => {
      throw new Unavailable('rpc_unavailable', 'no chain', 'later');
    };
    await expect(step(LEASE)).rejects.toThrow('no chain');
    expect([startAnew(), lost]).toEqual([[true, false], []]);
  });

  it('because it loses a lease begins anew, and goes on at once for the signers that are left', async () => {
    resume = () => {
      throw new LeaseLost([OTHER], 'test');
    };
    expect(await step(LEASE, OTHER)).toEqual([LEASE.signer]);
    expect([lost, startAnew()]).toEqual([[OTHER], [true, true]]);
    expect(failed).toEqual([]);
  });

  it('names the signers that failed while others did not, and tells of more waiting of the others', async () => {
    const error = new Error('broken');
    resume = (share) => {
      if (share.includes(OTHER)) throw error;
      return share;
    };
    [ready, full] = [[aReady('a')], [LEASE.signer]];
    expect(await step(LEASE, OTHER)).toEqual([LEASE.signer]);
    expect(failed).toEqual([[OTHER.signer, error]]);
  });
});

describe('a lane has another step at once', () => {
  it('when something was set aside, because others may wait behind it', async () => {
    [ready, full, cleared] = [[aReady('a')], [LEASE.signer], [OTHER.signer, LEASE.signer]];
    expect(await step(LEASE, OTHER)).toEqual([OTHER.signer, LEASE.signer]);
    [ready, full] = [[], []];
    expect(await step(LEASE, OTHER)).toEqual([OTHER.signer, LEASE.signer]);
  });

  it('when a full batch went, because more may wait behind it', async () => {
    [ready, full] = [[aReady('a'), aReady('b', OTHER)], [LEASE.signer]];
    expect(await step(LEASE, OTHER)).toEqual([LEASE.signer]);
  });

  it('not when nothing of its full batch could go: it would ask the chain the same without end', async () => {
    [ready, full] = [
      [aReady('a'), aReady('b', OTHER)],
      [LEASE.signer, OTHER.signer],
    ];
    gone = new Set(['a']);
    expect(await step(LEASE, OTHER)).toEqual([OTHER.signer]);
  });
});
