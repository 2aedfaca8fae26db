import { afterEach, describe, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { Geth } from '../support/geth.js';
import { TransferLedger } from '../support/transfer-ledger.js';

const SIGNERS = DEV_ACCOUNTS.slice(0, 3);
const EACH = 100;
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

describe.each(MODES)('with a pool that is smaller than what is in flight, and $name', ({ flags }) => {
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

  it('everything is CONFIRMED, and each payload was executed once', async () => {
    geth = await Geth.start({ flags: [...FLAGS, ...flags] });
    cluster = await Cluster.start({ nodes: 2, rpcUrl: geth.url });
    const ledgers = SIGNERS.map((signer, index) => new TransferLedger(cluster, signer, index + 1));
    await Promise.all(ledgers.map((ledger) => ledger.create(EACH)));
    for (const ledger of ledgers) await ledger.expectEachPaidOnce({ timeoutMs: 120_000 });
    expect(await cluster.database.sharedSlots()).toEqual([]);
    // The limits were hit: what a block did not take at once had left the pool, and was sent again.
    expect(await resends()).toBeGreaterThan(EACH);
  });
});
