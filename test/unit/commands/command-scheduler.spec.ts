import { beforeEach, describe, expect, it } from '@jest/globals';
import { ChainConfig, LockstepConfig } from '../../../src/config/index.js';
import { CloseExpired } from '../../../src/modules/commands/application/close-expired.js';
import { ExecuteCommands } from '../../../src/modules/commands/application/execute-commands.js';
import { CommandScheduler } from '../../../src/modules/commands/infrastructure/command-scheduler.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { DEV_CHAIN } from '../../support/builders.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { RecordingLog } from '../chain/chain-fixture.js';

class Driven extends CommandScheduler {
  tickNow(): Promise<void> {
    return this.tick(DEV_CHAIN);
  }
}

let calls: string[];
let commands: () => Promise<void>;
let log: RecordingLog;
let scheduler: Driven;

beforeEach(() => {
  const config = Object.assign(new LockstepConfig(), { chains: [Object.assign(new ChainConfig(), { id: DEV_CHAIN })] });
  [calls, log, commands] = [[], new RecordingLog(), () => Promise.resolve()];
  scheduler = new Driven(
    fakeOf(ExecuteCommands, { execute: (chainId) => (calls.push(`commands ${chainId}`), commands()) }),
    fakeOf(CloseExpired, { execute: async (chainId) => void calls.push(`expired ${chainId}`) }),
    log,
    config,
    tickersWith(log),
  );
});

describe('what expired is closed', () => {
  it('beside the commands', async () => {
    await scheduler.tickNow();
    expect(calls).toEqual([`commands ${DEV_CHAIN}`, `expired ${DEV_CHAIN}`]);
  });

  it('although the commands fail, which is logged', async () => {
    commands = () => Promise.reject(new Error('broken'));
    await scheduler.tickNow();
    await scheduler.onModuleDestroy();
    expect(calls).toEqual([`commands ${DEV_CHAIN}`, `expired ${DEV_CHAIN}`]);
    expect(log.lines.map(({ event }) => event)).toEqual(['failed to carry out commands']);
  });

  it('although commands wait for their chain, and a shutdown waits for these', async () => {
    let answer = (): void => undefined;
    commands = () => new Promise((resolve) => (answer = resolve));
    await scheduler.tickNow();
    expect(calls).toEqual([`commands ${DEV_CHAIN}`, `expired ${DEV_CHAIN}`]);
    const stopped = scheduler.onModuleDestroy().then(() => calls.push('stopped'));
    await new Promise(setImmediate);
    expect(calls).toHaveLength(2);
    answer();
    await stopped;
  });
});
