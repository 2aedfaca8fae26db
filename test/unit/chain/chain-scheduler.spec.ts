import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ChainConfig, LockstepConfig, type NodeRole } from '../../../src/config/index.js';
import type { ChainId } from '../../../src/kernel/signer-id.js';
import { ChainScheduler } from '../../../src/modules/chain/index.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { type Gate, gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { RecordingLog } from './chain-fixture.js';

const HOUR = 3_600_000;
const FAST = 1;
const SLOW = 2;

/** Looks at two chains, at one all the time and at the other once an hour. */
class Lookout extends ChainScheduler {
  readonly looks: ChainId[] = [];
  look = async (_chainId: ChainId): Promise<void> => undefined;

  constructor(
    role: NodeRole,
    readonly log = new RecordingLog(),
    readonly made = tickersWith(log),
  ) {
    const chains = [FAST, SLOW].map((id) => Object.assign(new ChainConfig(), { id }));
    const config = Object.assign(new LockstepConfig(), { chains });
    config.node.role = role;
    super({ name: 'look', intervalMs: ({ id }) => (id === FAST ? 1 : HOUR), config, tickers: made });
  }

  timesAt(chainId: ChainId): number {
    return this.looks.filter((id) => id === chainId).length;
  }

  protected override tick(chainId: ChainId): Promise<void> {
    this.looks.push(chainId);
    return this.look(chainId);
  }
}

describe('a scheduler of chains', () => {
  let lookout: Lookout;
  let held: Gate;

  beforeEach(() => {
    lookout = new Lookout('worker');
    held = gate();
  });
  afterEach(async () => {
    held.open();
    await lookout.onModuleDestroy();
  });

  it('runs at once on every chain, and again after the interval of that chain', async () => {
    lookout.onApplicationBootstrap();
    await until('the fast chain was looked at again', async () => lookout.timesAt(FAST) >= 3);
    expect(lookout.timesAt(SLOW)).toBe(1);
  });

  it('does not let a chain that hangs hold up the others, nor overlap itself there', async () => {
    lookout.look = (chainId) => (chainId === SLOW ? held.opened : Promise.resolve());
    lookout.onApplicationBootstrap();
    await until('the other chain was looked at again', async () => lookout.timesAt(FAST) >= 3);
    expect(lookout.timesAt(SLOW)).toBe(1);
  });

  it('says in the log on which chain a run failed', async () => {
    lookout.look = (chainId) => (chainId === SLOW ? Promise.reject(new Error('no answer')) : Promise.resolve());
    lookout.onApplicationBootstrap();
    await until('the failure is logged', async () => lookout.log.lines.length > 0);
    expect(lookout.log.lines).toMatchObject([{ event: 'ticker.failed', fields: { ticker: `look-${SLOW}` } }]);
  });

  it('does nothing on a node that does not act', async () => {
    const idle = new Lookout('api');
    idle.onApplicationBootstrap();
    await nextTurn();
    expect(idle.looks).toEqual([]);
    await idle.onModuleDestroy();
  });

  it('is destroyed only when the runs in flight have ended, and runs no more', async () => {
    lookout.look = () => held.opened;
    lookout.onApplicationBootstrap();
    await until('both chains are looked at', async () => lookout.looks.length === 2);

    let destroyed = false;
    const destroying = lookout.onModuleDestroy().then(() => (destroyed = true));
    await nextTurn();
    expect(destroyed).toBe(false);
    held.open();
    await destroying;

    lookout.onApplicationBootstrap();
    await nextTurn();
    expect(lookout.looks).toHaveLength(2);
  });

  it('runs no more when a shutdown has begun, although nobody has destroyed it yet', async () => {
    lookout.look = () => held.opened;
    lookout.onApplicationBootstrap();
    await until('both chains are looked at', async () => lookout.looks.length === 2);
    const ended = lookout.made.shutDown();
    held.open();
    await ended;
    // The fast chain would be looked at again after a millisecond.
    await sleep(30);
    expect(lookout.looks).toHaveLength(2);
  });
});
