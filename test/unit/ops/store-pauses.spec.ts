import { beforeEach, describe, expect, it } from '@jest/globals';
import { aPauseOrder, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { PauseLab } from './pause-lab.js';

const SIGNER = aSigner();
const REQUEST = aPauseOrder('key rotation');
const TOLD = { by: 'api', reason: 'key rotation' };
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
      'pause · audit · event of n · commit · pause · audit · commit · audit · resume · event of n · commit · audit · resume · commit',
    );
    const detail = { ...TOLD, scope: 'all' };
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
    expect(lab.events).toEqual([{ signer: SIGNER, reason: 'paused', detail: { ...TOLD, scope } }]);
  });

  it.each([
    ['signer:31337:' + SIGNER.address, SIGNER],
    ['address:' + SIGNER.address, { ...SIGNER, chainId: null }],
    ['chain:31337', { chainId: DEV_CHAIN, address: null }],
    ['all', ALL],
  ])('are in the audit log, also when they change nothing: %s', async (object, whom) => {
    for (const repeated of [1, 2]) await lab.store.pause(whom, { ...REQUEST, reason: `${repeated}` });
    await lab.store.resume(whom, { ...REQUEST, action: 'endStop', reason: null });
    const { by } = REQUEST;
    expect(lab.audited).toEqual([
      { by, action: 'stopSigners', object, detail: { reason: '1' } },
      { by, action: 'stopSigners', object, detail: { reason: '2' } },
      { by, action: 'endStop', object, detail: { reason: null } },
    ]);
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
