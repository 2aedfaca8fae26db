import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { TxQueue } from '../../../src/modules/ledger/index.js';
import { ResumeSigner } from '../../../src/modules/ops/application/resume-signer.js';
import { aPauseOrder, aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { PauseLab, SINCE } from './pause-lab.js';

const SIGNER = aSigner();
const REQUEST = aPauseOrder();

let lab: PauseLab;
let waiting: SignerId[];
let rung: (readonly SignerId[])[];
let resume: ResumeSigner;

beforeEach(() => {
  [lab, waiting, rung] = [new PauseLab(), [], []];
  lab.pause = { ...SIGNER, account: null, ...REQUEST, since: SINCE };
  const queue = fakeOf(TxQueue, {
    signersWithWork: async (chainId) =>
      [SIGNER, ...lab.signers]
        .filter((signer) => signer.chainId === chainId)
        .map((signer) => ({ signer, hasPending: waiting.includes(signer), lease: 'free' as const })),
    makeStoppedDue: async (account) => void lab.steps.push(`due of ${account}`),
  });
  resume = new ResumeSigner(lab.store, lab.pauses, queue, { ring: (signers) => void rung.push(signers) });
});

describe('the end of a pause', () => {
  it('wakes the lane, also when there was no pause', async () => {
    await resume.execute(SIGNER, REQUEST);
    await resume.execute(SIGNER, REQUEST);
    expect(rung).toEqual([[SIGNER], [SIGNER]]);
    expect(lab.events).toHaveLength(1);
  });

  it('of many wakes those that wait, on every chain', async () => {
    const elsewhere = { ...aSigner(0xac), chainId: 5 };
    lab.signers = [aSigner(0xab), elsewhere, aSigner(0xad)];
    waiting = [SIGNER, elsewhere, ...lab.signers.slice(2)];
    await resume.execute({ chainId: null, address: null }, REQUEST);
    expect(rung).toEqual([[lab.signers[2], elsewhere]]);
  });

  it('of an account makes due what was set aside, at once and when no lane can set more aside, and tells nothing of its signers', async () => {
    const account = { id: 'id-of-shop', name: 'shop' };
    lab.signers = [aSigner(0xab), aSigner(0xad)];
    waiting = lab.signers.slice(1);
    await resume.execute({ chainId: null, address: null, account }, REQUEST);
    expect(lab.steps).toEqual(['audit', 'resume', 'commit', 'due of id-of-shop', 'writes ended', 'due of id-of-shop']);
    expect(lab.audited).toMatchObject([{ object: 'account:shop' }]);
    expect(lab.events).toEqual([]);
    expect(rung).toEqual([[lab.signers[1]]]);
  });

  it('of nobody wakes nobody', async () => {
    lab.signers = [];
    await expect(resume.execute(SIGNER, REQUEST)).rejects.toMatchObject({ code: 'unknown_signer' });
    expect(rung).toEqual([]);
  });
});
