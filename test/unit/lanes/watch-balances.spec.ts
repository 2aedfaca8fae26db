import { beforeEach, describe, expect, it } from '@jest/globals';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import type { ReportLowBalances } from '../../../src/modules/lanes/application/report-low-balances.js';
import type { ResumeFunded } from '../../../src/modules/lanes/application/resume-funded.js';
import { WatchBalances } from '../../../src/modules/lanes/application/watch-balances.js';
import type { Funds, MeasureFunds } from '../../../src/modules/sending/index.js';
import type { FundsRepository, FundsStanding } from '../../../src/modules/transactions/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { someFunds } from './funds-fixture.js';

const [A, B, C] = [aSigner(1), aSigner(2), aSigner(3)];
const IDLE: FundsStanding = { isKnown: true, inFlight: 0, hasPending: false, waitsForFunds: false, isLow: false };
const SHORT: FundsStanding = { ...IDLE, hasPending: true, waitsForFunds: true };

let standing: Map<string, FundsStanding>;
let available: bigint;
let isLow: boolean;
let measured: SignerId[];
let resumed: SignerId[][];
let reported: (readonly Funds[])[];
let shown: number[];
let watch: WatchBalances;

beforeEach(() => {
  [standing, available, isLow, measured, resumed, reported, shown] = [new Map(), 5n, false, [], [], [], []];
  watch = new WatchBalances(
    { get: () => ({}) } as unknown as Chains,
    {
      standing: async (signers: readonly SignerId[]) =>
        signers.map((signer) => standing.get(signerKey(signer)) ?? IDLE),
    } as unknown as FundsRepository,
    {
      execute: async (_chain: unknown, signers: readonly SignerId[]) => {
        measured = [...signers];
        return signers.map((signer) => someFunds({ signer, available, isLow }));
      },
    } as unknown as MeasureFunds,
    { execute: async (_id: unknown, signers: SignerId[]) => void resumed.push(signers) } as unknown as ResumeFunded,
    {
      execute: async (_id: unknown, funds: readonly Funds[]) => void reported.push(funds),
    } as unknown as ReportLowBalances,
    { measured: (_id: unknown, funds: readonly Funds[]) => void shown.push(funds.length) },
  );
});

const look = () => watch.execute(DEV_CHAIN, [A, B, C]);

describe('a look at the balances', () => {
  it('asks for those of signers with something in flight or waiting, and of no others', async () => {
    standing.set(signerKey(A), { ...IDLE, inFlight: 1 });
    standing.set(signerKey(C), { ...IDLE, hasPending: true });
    expect(await look()).toEqual([A, C]);
    expect(measured).toEqual([A, C]);
    standing.clear();
    await look();
    expect(measured).toEqual([]);
    expect(shown).toEqual([2, 0]);
  });

  it('wakes what waits for funds when more is available than at the last look, and at the first one', async () => {
    standing.set(signerKey(A), SHORT);
    standing.set(signerKey(B), { ...SHORT, waitsForFunds: false });
    await look();
    await look();
    available = 6n;
    await look();
    available = 4n;
    await look();
    available = 5n;
    await look();
    expect(resumed).toEqual([[A], [], [A], [], [A]]);
  });

  it('forgets what was available of a signer that does not wait any more', async () => {
    standing.set(signerKey(A), SHORT);
    await look();
    standing.set(signerKey(A), { ...SHORT, waitsForFunds: false });
    await look();
    standing.set(signerKey(A), SHORT);
    await look();
    expect(resumed).toEqual([[A], [], [A]]);
  });

  it('reports only a change of low and not low', async () => {
    standing.set(signerKey(A), { ...SHORT, isLow: true });
    standing.set(signerKey(B), SHORT);
    await look();
    isLow = true;
    await look();
    expect(reported.map((funds) => funds.map(({ signer }) => signer))).toEqual([[A], [B]]);
  });
});
