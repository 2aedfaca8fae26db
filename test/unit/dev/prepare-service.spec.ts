import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type DetachedProcess, spawnDetached } from '../../../src/dev/detached-process.js';
import { freePort } from '../../../src/dev/free-port.js';
import { silent } from '../../../src/dev/log.js';
import { KEPT } from '../../../src/dev/paths.js';
import { prepareService } from '../../../src/dev/prepare-service.js';
import { RunningParts } from '../../../src/dev/running-parts.js';
import { StopSignal } from '../../../src/dev/stop-signal.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { until } from '../../support/until.js';

/** The one of the launcher listens to the signals of its process. */
const NO_STOP = fakeOf(StopSignal, { isRequested: false });
const KILLED_LAUNCHER = { pid: 2 ** 22 + 1, mark: 'killed' };

describe('the service of a config file', () => {
  let folder: string;
  let path: string;
  let port: number;
  let parts: RunningParts;
  const cleanUps = new RunningParts();

  const pidFile = () => join(KEPT, `pids-${String(port)}.json`);
  const config = (server: number) => `
    server: { port: ${String(server)} }
    database: { url: 'postgres://u:p@127.0.0.1:1/none' }
    chains: [{ id: 7, rpcUrls: ['http://127.0.0.1:1'], signers: [{ type: privateKey, key: '0x${'4'.repeat(64)}' }] }]
  `;
  const prepare = () => prepareService({ kind: 'config-file', path }, silent, parts, NO_STOP);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lockstep-prepare-'));
    path = join(folder, 'lockstep.yaml');
    port = await freePort();
    writeFileSync(path, config(port));
    parts = new RunningParts();
  });
  afterEach(async () => {
    await parts.stopAll(silent);
    await cleanUps.stopAll(silent);
    rmSync(pidFile(), { force: true });
    rmSync(folder, { recursive: true });
  });

  it('is started on the port of the file, and recorded until its launcher ends', async () => {
    const { env, devChain } = await prepare();
    expect(env).toEqual({ LOCKSTEP_CONFIG: path, LOCKSTEP_SERVER_PORT: String(port) });
    expect(devChain).toBe(false);
    expect(JSON.parse(readFileSync(pidFile(), 'utf8'))).toMatchObject({ launcher: { pid: process.pid } });
    await parts.stopAll(silent);
    expect(existsSync(pidFile())).toBe(false);
  });

  it('is not started twice', async () => {
    await prepare();
    await expect(prepare()).rejects.toThrow(/already running/);
    expect(existsSync(pidFile())).toBe(true);
  });

  it('takes the port of the one that a killed launcher left behind, which it stops', async () => {
    const left = await listening(port);
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(pidFile(), JSON.stringify({ launcher: KILLED_LAUNCHER, children: { service: left.identity } }));
    expect(await prepare()).toMatchObject({ env: { LOCKSTEP_SERVER_PORT: String(port) } });
    expect(await left.exited).toEqual({ code: 0, signal: null });
  });

  it('is not started on the port of a stranger, which goes on, and leaves no record', async () => {
    const stranger = createServer();
    await new Promise<void>((resolve) => stranger.listen(port, '127.0.0.1', resolve));
    cleanUps.add(null, () => new Promise((resolve) => stranger.close(resolve)));
    await expect(prepare()).rejects.toThrow(new RegExp(`Port ${String(port)} is in use`));
    await parts.stopAll(silent);
    expect(existsSync(pidFile())).toBe(false);
    expect(stranger.listening).toBe(true);
  });

  /** Listens until it is told to end, as the service does: it closes its port first. */
  async function listening(at: number): Promise<DetachedProcess> {
    const script = `
      const server = require('node:net').createServer();
      process.once('SIGTERM', () => server.close(() => process.exit(0)));
      server.listen(${String(at)}, '127.0.0.1', () => console.log('listening'));
    `;
    const file = join(folder, 'output');
    const child = await spawnDetached({ command: process.execPath, args: ['-e', script], output: { file } });
    cleanUps.add(null, () => child.stop('SIGKILL', 10_000));
    // Not by a look at the port: that would take it for a moment.
    await until('the process listens', async () => readFileSync(file, 'utf8') !== '');
    return child;
  }
});
