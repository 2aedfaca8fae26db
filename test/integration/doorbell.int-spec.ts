import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DatabaseConfig, NodeConfig } from '../../src/config/index.js';
import { signerKey, type SignerId } from '../../src/kernel/signer-id.js';
import type { LeaseManager } from '../../src/modules/signers/index.js';
import { PgDoorbell } from '../../src/modules/ledger/infrastructure/pg-doorbell.js';
import type { LogFields } from '../../src/platform/logging/log.js';
import { SystemClock } from '../../src/platform/system-clock.js';
import { twoNodeLab } from '../support/fence-lab.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { readableLog } from '../unit/platform/log-lines.js';
import { type LaneWaker } from '../../src/modules/ledger/application/writing/doorbell.js';

const { lab, first } = await twoNodeLab();

/** A node that listens by way of a proxy, and whose signers are those that the test says. */
class Listener {
  readonly woken: SignerId[] = [];
  readonly lines: LogFields[];
  readonly bell: PgDoorbell;

  constructor(url: string, ours: readonly SignerId[] | 'all', role: Partial<NodeConfig> = {}) {
    const { log, lines } = readableLog();
    this.lines = lines;
    const isOurs = ({ address }: SignerId): boolean => ours === 'all' || ours.some((each) => each.address === address);
    this.bell = new PgDoorbell(
      first.database,
      Object.assign(new DatabaseConfig(), { url }),
      Object.assign(new NodeConfig(), role),
      { wake: (signers: readonly SignerId[]) => this.woken.push(...signers) } as unknown as LaneWaker,
      { isOurs } as unknown as LeaseManager,
      new SystemClock(),
      log,
    );
  }

  heard(signer: SignerId): boolean {
    return this.woken.some((each) => signerKey(each) === signerKey(signer));
  }

  get offs(): number {
    return this.lines.filter(({ msg }) => msg === 'doorbell connection lost, polling for work instead').length;
  }
}

const note = (payload: string): Promise<unknown> =>
  lab.observer.run(`SELECT pg_notify('lockstep_work', $1)`, [payload]);

async function listening(): Promise<number> {
  const rows = await lab.observer.run(
    `SELECT FROM pg_stat_activity WHERE application_name = 'lockstep-doorbell' AND datname = current_database()`,
  );
  return rows.length;
}

let proxy: TcpProxy;
let listener: Listener;

async function listen(ours: readonly SignerId[] | 'all', role: Partial<NodeConfig> = {}): Promise<void> {
  listener = new Listener(proxy.url, ours, role);
  await listener.bell.onApplicationBootstrap();
}

beforeEach(async () => {
  proxy = await TcpProxy.listen(lab.url);
});
afterEach(async () => {
  await listener.bell.onModuleDestroy();
  await proxy.stop();
  await until('the server has let every listener go', async () => (await listening()) === 0);
});

describe('a node that listens', () => {
  it('wakes the lanes of its own signers that another node rings for, and no others', async () => {
    const [mine, theirs] = lab.freshSigners(2);
    if (!mine || !theirs) throw new Error('two were made');
    await listen([mine]);
    new Listener(proxy.url, []).bell.ring([theirs, mine]);
    await until('the bell was heard', async () => listener.woken.length > 0);
    expect(listener.woken).toEqual([mine]);
  });

  it('takes what it can read of a note, and nothing else', async () => {
    const [one, two] = lab.freshSigners(2);
    if (!one || !two) throw new Error('two were made');
    await listen('all');
    const { address } = one;
    await note('');
    await note(
      `nonsense :${address} 1: ${address} 1:${address}0 1:${address.slice(0, -1)} x1:${address} -1:${address}`,
    );
    await note(`1:${address.toUpperCase()}  ${signerKey(one)} and ${signerKey(two)}`);
    await until('the last note was heard', async () => listener.heard(two));
    expect(listener.woken).toEqual([one, two]);
  });

  it('listens again when the connection was lost, and says once that it was', async () => {
    const signer = lab.freshSigner();
    await listen('all');
    proxy.set('cut');
    await until('the loss was noticed', async () => listener.offs > 0);
    expect(listener.offs).toBe(1);
    proxy.heal();
    await until('it hears again', async () => {
      await note(signerKey(signer));
      return listener.heard(signer);
    });
    expect(await listening()).toBe(1);
  });

  it('tries again and again while the server is away', async () => {
    proxy.set('cut');
    await listen('all');
    await until('it tried three times', async () => listener.offs >= 3);
    proxy.heal();
    await until('it listens', async () => (await listening()) === 1);
  });

  it('listens no more when it was closed, and does not take the end for a loss', async () => {
    await listen('all');
    expect(await listening()).toBe(1);
    await listener.bell.onModuleDestroy();
    await until('the connection is gone', async () => (await listening()) === 0);
    expect(listener.offs).toBe(0);
  });

  it('does not come back when it was closed while the server was away', async () => {
    await listen('all');
    proxy.set('cut');
    await until('the loss was noticed', async () => listener.offs === 1);
    const { connections } = proxy.counters;
    await listener.bell.onModuleDestroy();
    proxy.heal();
    // Another one comes back after the same pause, and was lost later.
    const other = new Listener(proxy.url, 'all');
    await other.bell.onApplicationBootstrap();
    proxy.set('cut');
    await until('the other lost its connection', async () => other.offs === 1);
    proxy.heal();
    await until('the other is back', async () => (await listening()) === 1);
    expect(proxy.counters.connections - connections).toBe(2);
    await other.bell.onModuleDestroy();
  });
});

it('a node that only serves the API does not listen', async () => {
  await listen('all', { role: 'api' });
  expect(await listening()).toBe(0);
});
