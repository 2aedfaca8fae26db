import { beforeEach, describe, expect, it } from '@jest/globals';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { PauseLab } from './pause-lab.js';

const SIGNER = aSigner();
const REQUEST = { by: 'api', reason: 'key rotation' };
const ALL = { chainId: null, address: null };

let lab: PauseLab;

beforeEach(() => {
  lab = new PauseLab();
});

describe('a pause and its end', () => {
  it('are written each with an event of every signer in one commit, and nothing for a repetition', async () => {
    lab.signers = [SIGNER, aSigner(0xab)];
    await lab.store.pause(ALL, REQUEST);
    await lab.store.pause(ALL, REQUEST);
    expect(await lab.store.resume(ALL, REQUEST)).toEqual(lab.signers);
    expect(await lab.store.resume(ALL, REQUEST)).toEqual(lab.signers);
    expect(lab.steps.join(' · ')).toBe(
      'pause · event of n · commit · pause · commit · resume · event of n · commit · resume · commit',
    );
    const detail = { ...REQUEST, scope: 'all' };
    expect(lab.events).toEqual(
      ['paused', 'resumed'].flatMap((reason) => lab.signers.map((signer) => ({ signer, reason, detail }))),
    );
  });

  it.each([
    ['signer', SIGNER],
    ['address', { ...SIGNER, chainId: null }],
    ['chain', { chainId: DEV_CHAIN, address: null }],
    ['all', ALL],
  ])('say for whom: %s', async (scope, whom) => {
    await lab.store.pause(whom, REQUEST);
    expect(lab.events).toEqual([{ signer: SIGNER, reason: 'paused', detail: { ...REQUEST, scope } }]);
  });

  it('are refused where nobody is, but not for all: who comes later is paused, too', async () => {
    lab.signers = [];
    for (const whom of [SIGNER, { chainId: DEV_CHAIN, address: null }]) {
      await expect(lab.store.pause(whom, REQUEST)).rejects.toMatchObject({ code: 'unknown_signer' });
      await expect(lab.store.resume(whom, REQUEST)).rejects.toMatchObject({ code: 'unknown_signer' });
    }
    expect(lab.steps).toEqual([]);
    await lab.store.pause(ALL, REQUEST);
    expect(lab.pause).toMatchObject(REQUEST);
  });
});
