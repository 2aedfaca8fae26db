import { afterEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig, IN_FLIGHT_START } from '../../src/config/index.js';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { Geth } from '../support/geth.js';
import { TransferLedger } from '../support/transfer-ledger.js';
import { until } from '../support/until.js';

const SIGNERS = DEV_ACCOUNTS.slice(0, 3);
const EACH = 100;
const MANY = 1_500;
/** What is learnt begins where it does for everybody. */
const DEFAULTS = { maxInFlight: new ExecutionConfig().maxInFlight, inFlightStart: IN_FLIGHT_START };
/** Far fewer than the 300 that Lockstep may have in flight: geth's own limits are 16, 5120, 64 and 1024. */
const FLAGS = [
  ...['--txpool.accountslots', '4', '--txpool.globalslots', '48'],
  ...['--txpool.accountqueue', '8', '--txpool.globalqueue', '16'],
];
/** geth answers that it took a transaction which its full pool refused, when it means to try again itself. */
const MODES = [
  { name: 'that says so', flags: ['--txpool.nolocals'] },
  { name: 'that keeps the refused ones for itself', flags: [] },
];

let geth: Geth;
let cluster: Cluster;

afterEach(async () => {
  await cluster.stop();
  await geth.stop();
});

async function resends(): Promise<number> {
  const sql = `SELECT count(*) FROM tx_event WHERE reason = 'resubmitted'`;
  return Number((await cluster.database.query<{ count: string }>(sql))[0]?.count);
}

describe.each(MODES)('with a pool that is smaller than what is in flight, and $name', ({ flags }) => {
  it('everything is CONFIRMED, and each payload was executed once', async () => {
    geth = await Geth.start({ flags: [...FLAGS, ...flags] });
    cluster = await Cluster.start({ nodes: 2, rpcUrl: geth.url, config: { execution: DEFAULTS } });
    const ledgers = SIGNERS.map((signer, index) => new TransferLedger(cluster, signer, index + 1));
    await Promise.all(ledgers.map((ledger) => ledger.create(EACH)));
    for (const ledger of ledgers) await ledger.expectEachPaidOnce({ timeoutMs: 120_000 });
    expect(await cluster.database.sharedSlots()).toEqual([]);
    // The limits were hit: what a block did not take at once had left the pool, and was sent again.
    expect(await resends()).toBeGreaterThan(EACH);
  });
});

it('with the pool that geth has by itself, one signer gets more in flight with each block, and each payload was executed once', async () => {
  geth = await Geth.start({ period: 1 });
  // On a busy machine more time than the interval of other tests lies between a send and the record of its block, and resends it.
  const config = { execution: DEFAULTS, resubmit: { interval: '10m' } };
  cluster = await Cluster.start({ nodes: 1, rpcUrl: geth.url, config });
  const [signer] = DEV_ACCOUNTS;
  const ledger = new TransferLedger(cluster, signer, 1);
  await ledger.create(MANY);
  await until('the signer may have more in flight', async () => {
    const signers = await cluster.nodes[0]?.service.get<{ items: { inFlightLimit: { learnt: number | null } }[] }>(
      '/api/v1/signers',
    );
    return signers?.body.items.some(({ inFlightLimit: { learnt } }) => (learnt ?? 0) >= 8 * IN_FLIGHT_START) === true;
  });
  await ledger.expectEachPaidOnce({ timeoutMs: 120_000 });
  // Nothing was refused or dropped.
  expect(await resends()).toBe(0);
});
