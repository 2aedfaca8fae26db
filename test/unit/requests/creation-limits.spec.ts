import { expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { CreationLimits } from '../../../src/modules/requests/application/creation-limits.js';
import { SignerRate } from '../../../src/modules/requests/application/signer-rate.js';
import { WaitingTxs } from '../../../src/modules/requests/application/waiting-txs.js';
import { RateLimited } from '../../../src/platform/limits/rate-limited.js';
import { aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const REQUEST = { signer: aSigner(), sender: ANYONE };
let taken = 0;
let hasRoom = true;
const limits = new CreationLimits(
  fakeOf(WaitingTxs, {
    assertRoom: async () => {
      if (!hasRoom) throw new RateLimited('waiting_txs', 5);
    },
  }),
  fakeOf(SignerRate, { take: async () => void (taken += 1) }),
);

it('what has no room to wait takes nothing of the rate of its signer; a repeated request passes', async () => {
  await limits.admit(REQUEST, async () => false);
  expect(taken).toBe(1);
  hasRoom = false;
  await expect(limits.admit(REQUEST, async () => false)).rejects.toBeInstanceOf(RateLimited);
  expect(taken).toBe(1);
  await limits.admit(REQUEST, async () => true);
  expect(taken).toBe(2);
});
