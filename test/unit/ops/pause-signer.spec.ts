import { expect, it } from '@jest/globals';
import { PauseSigner } from '../../../src/modules/ops/application/pause-signer.js';
import { aPauseOrder, aSigner } from '../../support/builders.js';
import { PauseLab, SINCE } from './pause-lab.js';

const SIGNER = aSigner();
const ORDER = aPauseOrder('key rotation');

it('a pause returns when the writes before it have ended, also one that is repeated', async () => {
  const lab = new PauseLab();
  const pause = new PauseSigner(lab.store, lab.pauses);
  expect(await pause.execute(SIGNER, ORDER)).toEqual({ ...SIGNER, account: null, ...ORDER, since: SINCE });
  expect(lab.steps).toEqual(['pause', 'audit', 'event of n', 'commit', 'writes ended']);
  lab.steps.length = 0;
  expect(await pause.execute(SIGNER, aPauseOrder(null, 'other'))).toEqual({
    ...SIGNER,
    account: null,
    ...ORDER,
    since: SINCE,
  });
  expect(lab.steps).toEqual(['pause', 'audit', 'commit', 'writes ended']);
});
