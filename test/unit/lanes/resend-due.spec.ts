import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import type { ResendAttempts } from '../../../src/modules/lanes/application/resend-attempts.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { ResendDue } from '../../../src/modules/lanes/application/resend-due.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import type { ManagedTx, PostponeDue, TxsInFlight } from '../../../src/modules/ledger/index.js';
import { aManagedTx, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { begunWork } from '../../support/fakes/our-work.js';

/** The txs whose timer has run out; those of them that need new bytes; and those without an attempt. */
let due: ManagedTx[];
/** Signers whose leases this node has. */
let held: SignerId[];
let toRenew: ManagedTx[];
let without: ManagedTx[];
/** What was done, with the ids of the txs. */
let calls: unknown[][];
let fails: { resend?: Error; renew?: Error };
let resend: ResendDue;

const [BUSY, QUIET] = [aSigner(1), aSigner(2)];
const aTx = (txId: string, signer = BUSY): ManagedTx =>
  aManagedTx({ txId, signer, state: 'IN_MEMPOOL', nonce: 7n }).build();
const ids = (txs: readonly ManagedTx[]): string[] => txs.map(({ id }) => id);

beforeEach(() => {
  held = [BUSY, QUIET];
  [due, toRenew, without, calls, fails] = [['a', 'b', 'c'].map((id) => aTx(id)), [], [], [], {}];
  resend = new ResendDue(
    { heldOn: () => held.map((signer) => ({ signer })) } as unknown as LeaseManager,
    {
      dueForResubmit: async (_chain: number, signers: readonly string[], perSigner: number): Promise<ManagedTx[]> =>
        signers.flatMap((address) => due.filter(({ signer }) => signer.address === address).slice(0, perSigner)),
    } as unknown as TxsInFlight,
    begunWork,
    {
      resend: async (_chain: number, _leases: unknown, txs: readonly ManagedTx[]) => {
        calls.push(['resend', ...ids(txs)]);
        if (fails.resend) throw fails.resend;
        return { sent: txs.filter((tx) => !toRenew.includes(tx) && !without.includes(tx)), toRenew };
      },
      renew: async (_chain: number, _leases: unknown, txs: readonly ManagedTx[]) => {
        calls.push(['renew', ...ids(txs)]);
        if (fails.renew) throw fails.renew;
      },
    } as unknown as ResendAttempts,
    {
      execute: async (timer: string, txs: readonly ManagedTx[]) => void calls.push(['postpone', timer, ...ids(txs)]),
    } as unknown as PostponeDue,
    Object.assign(new ExecutionConfig(), { batchSize: 20 }),
  );
});

describe('what is due for another send', () => {
  it('is sent again, and what needs new bytes is signed after it', async () => {
    toRenew = due.slice(1, 2);
    await resend.execute(DEV_CHAIN);
    expect(calls).toEqual([
      ['resend', 'a', 'b', 'c'],
      ['renew', 'b'],
      ['postpone', 'resubmit'],
    ]);
  });

  it('is due again later when it has nothing to send', async () => {
    without = due.slice(2);
    await resend.execute(DEV_CHAIN);
    expect(calls[1]).toEqual(['postpone', 'resubmit', 'c']);
  });

  it('is due again later when it could not be signed, and the others are sent', async () => {
    toRenew = due.slice(1, 2);
    fails = { renew: new Error('no price') };
    await expect(resend.execute(DEV_CHAIN)).rejects.toThrow('no price');
    expect(calls.slice(2)).toEqual([['postpone', 'resubmit', 'b']]);
  });

  it('is due again later when nothing could be sent', async () => {
    fails = { resend: new Error('no database') };
    await expect(resend.execute(DEV_CHAIN)).rejects.toThrow('no database');
    expect(calls.slice(1)).toEqual([['postpone', 'resubmit', 'a', 'b', 'c']]);
  });

  it('is nothing when nothing is due', async () => {
    due = [];
    await resend.execute(DEV_CHAIN);
    expect(calls).toEqual([['postpone', 'resubmit']]);
  });

  it('is read for the signers whose leases this node has, a batch of them, and in turn', async () => {
    due = [...Array.from({ length: 50 }, (_, n) => aTx(`${n}`)), aTx('quiet', QUIET)];
    await resend.execute(DEV_CHAIN);
    const [sent] = calls;
    expect([sent?.length, sent?.includes('quiet')]).toEqual([1 + 20, true]);
    [held, calls] = [[], []];
    await resend.execute(DEV_CHAIN);
    expect(calls).toEqual([['postpone', 'resubmit']]);
  });
});
