import { afterEach, describe, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { devWallet } from '../support/dev-wallets.js';
import { Geth, type GethOptions } from '../support/geth.js';
import { GethWire, GWEI } from '../support/geth-wire.js';
import { TransferLedger } from '../support/transfer-ledger.js';
import { until } from '../support/until.js';

const [SIGNER] = DEV_ACCOUNTS;
/** Of the dev mnemonic, and not a signer of ours. */
const CROWD = 15;
const CROWD_BLOCKS = 24;
const BLOCK_GAS = 100n * 21_000n;
/** Init code that runs until its gas is gone. With this limit a block has no room for a transfer beside it. */
const WHOLE_BLOCK = { to: null, value: 0n, data: '0x5b600056', gasLimit: BLOCK_GAS - 20_500n };
const DEPTH = 10;
const CAP = 3_000n * GWEI;

interface Bumped {
  readonly nonce: string;
  readonly attempts: string;
  readonly highest: string;
}

let geth: Geth;
let wire: GethWire;
let cluster: Cluster;

async function start(options: GethOptions): Promise<void> {
  geth = await Geth.start(options);
  wire = new GethWire(geth.url);
  cluster = await Cluster.start({
    nodes: 2,
    rpcUrl: geth.url,
    chain: { fees: { maxFeePerGas: CAP.toString(), maxPriorityFeePerGas: CAP.toString() } },
    config: { resubmit: { interval: '3s', bumpAfterBlocks: 3, bumpDepth: DEPTH } },
  });
}

afterEach(async () => {
  await cluster.stop();
  await wire.close();
  await geth.stop();
});

/** Per nonce of the signer. */
function attempts(): Promise<Bumped[]> {
  const sql = `SELECT nonce, count(*) AS attempts, max(max_fee_per_gas) AS highest FROM tx_attempt WHERE signer = $1 GROUP BY nonce`;
  return cluster.database.query<Bumped>(sql, [SIGNER.toLowerCase()]);
}

async function baseFee(): Promise<bigint> {
  const { baseFeePerGas } = (await geth.call('eth_getBlockByNumber', 'latest', false)) as { baseFeePerGas: string };
  return BigInt(baseFeePerGas);
}

describe('what is stuck in the pool of geth', () => {
  it('64 in flight whose fee cap is far below a base fee that rose tenfold are all mined, and only the lowest are bumped', async () => {
    const first = devWallet(CROWD).address;
    // Falls with every empty block, so it begins far above the tip.
    const genesis = { gasLimit: BLOCK_GAS, baseFeePerGas: 100n * GWEI };
    await start({ held: true, genesis, flags: ['--txpool.locals', first, '--rpc.txfeecap', '0'] });
    const ledger = new TransferLedger(cluster, SIGNER, 1);
    await ledger.create(64);
    for (let nonce = 0; nonce < CROWD_BLOCKS; nonce += 1)
      expect(await wire.send(CROWD, { ...WHOLE_BLOCK, nonce, maxFeePerGas: CAP })).toEqual({
        kind: 'accepted',
      });
    await until('all are in the pool', async () => (await geth.pool()).pending === 64 + CROWD_BLOCKS);
    const before = await baseFee();
    await geth.release();

    await until('the base fee is tenfold', async () => (await baseFee()) >= 10n * before);
    expect(await geth.call('eth_getTransactionCount', SIGNER, 'latest')).toBe('0x0');
    const bumped = (await attempts()).filter((slot) => Number(slot.attempts) > 1).map(({ nonce }) => Number(nonce));
    expect(bumped.sort((a, b) => a - b)).toEqual(Array.from({ length: DEPTH }, (_, nonce) => nonce));

    await ledger.expectEachPaidOnce();
    const all = await attempts();
    expect(Math.max(...all.map((slot) => Number(slot.attempts)))).toBeLessThanOrEqual(1 + CROWD_BLOCKS / 3);
    expect(all.filter(({ highest }) => BigInt(highest) > CAP)).toEqual([]);
  });

  it('a tip that the block builder does not take is raised to what others pay, and mined', async () => {
    const least = 2n * GWEI;
    await start({ flags: ['--miner.gasprice', least.toString(), '--gpo.maxprice', GWEI.toString()] });
    const ledger = new TransferLedger(cluster, SIGNER, 1);
    await ledger.create(20);
    await until('they are in the pool', async () => (await geth.pool()).pending === 20);
    const market = { over: false };
    const others = (async () => {
      for (let nonce = 0; !market.over; nonce += 1) {
        await wire.send(CROWD, { nonce, maxPriorityFeePerGas: 3n * GWEI });
        await until('it is mined', async () => (await wire.minedOf(CROWD)) === BigInt(nonce + 1));
      }
    })();
    await ledger.expectEachPaidOnce();
    market.over = true;
    await others;
    expect((await attempts()).filter((slot) => Number(slot.attempts) < 2)).toEqual([]);
  });
});
