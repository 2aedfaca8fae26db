import { beforeEach, describe, expect, it } from '@jest/globals';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import { AdvanceLanes } from '../../../src/modules/lanes/application/advance-lanes.js';
import type { PreparePending, ReadyTx } from '../../../src/modules/lanes/application/prepare-pending.js';
import type { ResumeLanes } from '../../../src/modules/lanes/application/resume-lanes.js';
import type { SendReady } from '../../../src/modules/lanes/application/send-ready.js';
import type { AdmitLanes } from '../../../src/modules/lost-commits/index.js';
import type { FillNonceGaps } from '../../../src/modules/nonces/index.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import { aManagedTx, aRequest, aSigner, DEV_CHAIN } from '../../support/builders.js';

const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };
const OTHER: Lease = { signer: aSigner(2), owner: 'node', token: 2n };
const CHAIN = { chainId: DEV_CHAIN } as ChainConnector;
const READY: ReadyTx = { tx: aManagedTx({ txId: 'a' }).build(), request: aRequest(), gasLimit: 21_000n };

let admitted: readonly Lease[];
let ready: ReadyTx[];
/** Signers with more waiting than fitted, and keys of those of which something got a nonce. */
let full: SignerId[];
let moved: Set<string>;
/** What the step did, in order. */
let calls: unknown[][];
let lanes: AdvanceLanes;

beforeEach(() => {
  [admitted, ready, full, moved, calls] = [[LEASE, OTHER], [], [], new Set(), []];
  lanes = new AdvanceLanes(
    { execute: async (...args: unknown[]) => (calls.push(['admit', ...args]), admitted) } as unknown as AdmitLanes,
    { execute: async (...args: unknown[]) => void calls.push(['resume', ...args]) } as unknown as ResumeLanes,
    {
      execute: async (...args: unknown[]) => (calls.push(['prepare', ...args]), { ready, full }),
    } as unknown as PreparePending,
    { execute: async (...args: unknown[]) => (calls.push(['send', ...args]), moved) } as unknown as SendReady,
    { execute: async (...args: unknown[]) => void calls.push(['fill gaps', ...args]) } as unknown as FillNonceGaps,
  );
});

const execute = (): Promise<SignerId[]> => lanes.execute(CHAIN, [LEASE, OTHER]);

describe('a lane step', () => {
  it('finishes what was left, prepares what waits, sends it, and then fills gaps', async () => {
    ready = [READY];
    await execute();
    const all = [LEASE, OTHER];
    expect(calls).toEqual([
      ['admit', CHAIN, all],
      ['resume', CHAIN, all],
      ['prepare', CHAIN, all],
      ['send', CHAIN, all, [READY]],
      ['fill gaps', DEV_CHAIN, all],
    ]);
  });

  it('takes no nonce when nothing is ready', async () => {
    await execute();
    expect(calls.map(([name]) => name)).not.toContain('send');
  });

  it('does nothing for a signer of which it is not known what is out', async () => {
    [admitted, ready] = [[OTHER], [READY]];
    await execute();
    expect(calls.slice(1).map((call) => call.find(Array.isArray))).toEqual(new Array(4).fill([OTHER]));
  });
});

describe('a lane has another step at once', () => {
  beforeEach(() => {
    ready = [READY];
  });

  it('when a full batch went, because more may wait behind it', async () => {
    [full, moved] = [[LEASE.signer], new Set([LEASE, OTHER].map(({ signer }) => signerKey(signer)))];
    expect(await execute()).toEqual([LEASE.signer]);
  });

  it('not when nothing of its full batch could go: it would ask the chain the same without end', async () => {
    [full, moved] = [[LEASE.signer, OTHER.signer], new Set([signerKey(OTHER.signer)])];
    expect(await execute()).toEqual([OTHER.signer]);
  });
});
