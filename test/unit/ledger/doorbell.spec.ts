import { expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { aSigner } from '../../support/builders.js';
import { LaneWaker } from '../../../src/modules/ledger/application/writing/doorbell.js';

it('a ring reaches the scheduler of the lanes with its signers, and is lost before that listens', () => {
  const [waker, woken] = [new LaneWaker(), [] as SignerId[][]];
  waker.wake([aSigner(1)]);
  waker.onWake((signers) => woken.push([...signers]));
  waker.wake([aSigner(2), aSigner(3)]);
  expect(woken).toEqual([[aSigner(2), aSigner(3)]]);
});
