import { expect, it } from '@jest/globals';
import { ChainConfig, LockstepConfig } from '../../../src/config/index.js';
import { BumpDue } from '../../../src/modules/lanes/application/bump-due.js';
import { ResendDue } from '../../../src/modules/lanes/application/resend-due.js';
import { ResubmitScheduler } from '../../../src/modules/lanes/infrastructure/resubmit-scheduler.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { DEV_CHAIN } from '../../support/builders.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { RecordingLog } from '../chain/chain-fixture.js';

class Driven extends ResubmitScheduler {
  tickNow(): Promise<void> {
    return this.tick(DEV_CHAIN);
  }
}

function scheduler(resend: () => Promise<void>, calls: string[]): Driven {
  const config = Object.assign(new LockstepConfig(), { chains: [Object.assign(new ChainConfig(), { id: DEV_CHAIN })] });
  return new Driven(
    fakeOf(ResendDue, { execute: async (chainId) => (calls.push(`resend ${chainId}`), resend()) }),
    fakeOf(BumpDue, { execute: async (chainId) => void calls.push(`bump ${chainId}`) }),
    config,
    tickersWith(new RecordingLog()),
  );
}

it('what is late is sent again first, and then what is too cheap is bumped', async () => {
  const calls: string[] = [];
  await scheduler(async () => undefined, calls).tickNow();
  expect(calls).toEqual([`resend ${DEV_CHAIN}`, `bump ${DEV_CHAIN}`]);
});

it('a resend that fails keeps nothing from being bumped, and its error is told', async () => {
  const calls: string[] = [];
  const failing = scheduler(() => Promise.reject(new Error('no answer')), calls).tickNow();
  await expect(failing).rejects.toThrow('no answer');
  expect(calls).toEqual([`resend ${DEV_CHAIN}`, `bump ${DEV_CHAIN}`]);
});
