import { beforeEach, describe, expect, it } from '@jest/globals';
import { ResumeSigner } from '../../../src/modules/ops/application/resume-signer.js';
import { aSigner } from '../../support/builders.js';
import { Named } from '../../support/fakes/fake-node.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { PauseLab, SINCE } from './pause-lab.js';

const SIGNER = aSigner();
const REQUEST = { by: 'api', reason: null };

let lab: PauseLab;
let resume: ResumeSigner;

beforeEach(() => {
  lab = new PauseLab();
  lab.pause = { by: 'api', reason: null, since: SINCE };
  const doorbell = { ring: (signers: unknown) => void lab.steps.push(`ring ${JSON.stringify(signers)}`) };
  resume = new ResumeSigner(lab.unitOfWork, lab.pauses, lab.log, doorbell, new Named('n'), new RecordingLog());
});

describe('the end of a pause', () => {
  it('is written with its event in one commit, and then wakes the lane', async () => {
    await resume.execute(SIGNER, REQUEST);
    expect(lab.steps).toEqual(['resume', 'event of n', 'commit', `ring ${JSON.stringify([SIGNER])}`]);
    expect(lab.events).toEqual([{ signer: SIGNER, reason: 'resumed', detail: REQUEST }]);
  });

  it('of a signer that is not paused writes no event, and wakes the lane all the same', async () => {
    lab.pause = null;
    await resume.execute(SIGNER, REQUEST);
    expect(lab.steps).toEqual(['resume', 'commit', `ring ${JSON.stringify([SIGNER])}`]);
  });

  it('is refused for an unknown signer, and wakes nobody', async () => {
    lab.known = false;
    await expect(resume.execute(SIGNER, REQUEST)).rejects.toMatchObject({ code: 'unknown_signer' });
    expect(lab.steps).toEqual(['resume']);
  });
});
