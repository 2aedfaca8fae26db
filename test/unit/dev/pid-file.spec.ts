import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawnDetached, type DetachedProcess } from '../../../src/dev/detached-process.js';
import { silent } from '../../../src/dev/log.js';
import { PidFile } from '../../../src/dev/pid-file.js';
import { identify, isStillRunning } from '../../../src/dev/process-identity.js';

const sleeper = (): Promise<DetachedProcess> =>
  spawnDetached({ command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'], output: 'ignore' });

describe('the record of who runs', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lockstep-pids-'));
    path = join(folder, 'pids.json');
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('refuses a second launcher while the first one runs', async () => {
    await new PidFile(path).claim(silent);
    await expect(new PidFile(path).claim(silent)).rejects.toThrow(/already running/);
  });

  it('lets the next launcher start after a release', async () => {
    const first = new PidFile(path);
    await first.claim(silent);
    first.release();
    expect(existsSync(path)).toBe(false);
    await new PidFile(path).claim(silent);
  });

  it('stops what a killed launcher left behind', async () => {
    const child = await sleeper();
    const launcher = { pid: 2 ** 22 + 1, mark: 'killed' };
    writeFileSync(path, JSON.stringify({ launcher, children: { anvil: child.identity } }));
    await new PidFile(path).claim(silent);
    expect((await child.exited).signal).toBe('SIGTERM');
  });

  it('never touches a stranger that got the pid of a child of ours', async () => {
    const stranger = await sleeper();
    const launcher = { pid: process.pid, mark: 'an earlier process with our pid' };
    const { pid } = stranger.identity;
    writeFileSync(path, JSON.stringify({ launcher, children: { anvil: { pid, mark: 'an earlier process' } } }));
    await new PidFile(path).claim(silent);
    expect(isStillRunning(stranger.identity)).toBe(true);
    await stranger.stop('SIGKILL', 1_000);
    expect(identify(pid)).toBeNull();
  });

  it('is written with every child', async () => {
    const file = new PidFile(path);
    await file.claim(silent);
    file.add('service', { pid: 7, mark: 'm' });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ children: { service: { pid: 7 } } });
  });
});
