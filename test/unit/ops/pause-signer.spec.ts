import { beforeEach, describe, expect, it } from '@jest/globals';
import { PauseSigner } from '../../../src/modules/ops/application/pause-signer.js';
import { aSigner } from '../../support/builders.js';
import { Named } from '../../support/fakes/fake-node.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { PauseLab, SINCE } from './pause-lab.js';

const SIGNER = aSigner();
const REQUEST = { by: 'api', reason: 'key rotation' };

let lab: PauseLab;
let pause: PauseSigner;

beforeEach(() => {
  lab = new PauseLab();
  pause = new PauseSigner(lab.unitOfWork, lab.pauses, lab.log, new Named('n'), new RecordingLog());
});

describe('a pause of a signer', () => {
  it('is written with its event in one commit, and returns when the writes before it have ended', async () => {
    expect(await pause.execute(SIGNER, REQUEST)).toEqual({ ...REQUEST, since: SINCE });
    expect(lab.steps).toEqual(['pause', 'event of n', 'commit', 'writes ended']);
    expect(lab.events).toEqual([{ signer: SIGNER, reason: 'paused', detail: REQUEST }]);
  });

  it('that is repeated writes no event, returns the first one, and waits for the writes before it, too', async () => {
    await pause.execute(SIGNER, REQUEST);
    lab.steps.length = 0;
    expect(await pause.execute(SIGNER, { by: 'other', reason: null })).toEqual({ ...REQUEST, since: SINCE });
    expect(lab.steps).toEqual(['pause', 'commit', 'writes ended']);
  });

  it('is refused for an unknown signer', async () => {
    lab.known = false;
    await expect(pause.execute(SIGNER, REQUEST)).rejects.toMatchObject({ code: 'unknown_signer' });
    expect(lab.steps).toEqual(['pause']);
  });
});
