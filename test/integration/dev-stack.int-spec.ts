import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { callRpc } from '../../src/dev/json-rpc.js';
import { poll } from '../../src/dev/poll.js';
import { removeCluster } from '../../src/dev/postgres-home.js';
import { identify } from '../../src/dev/process-identity.js';
import { DEV_ACCOUNTS, startAnvil } from '../support/anvil.js';
import { startPostgres } from '../support/postgres.js';
import { until } from '../support/until.js';

describe('the dev stack', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lockstep-dev-stack-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  describe('PostgreSQL', () => {
    const dataDir = (): string => join(folder, 'postgres');
    const start = () => startPostgres({ dataDir: dataDir(), durable: true });
    afterEach(() => {
      removeCluster(dataDir());
    });

    it('keeps its data over a stop, and leaves no process', async () => {
      const first = await start();
      await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
      await first.stop();
      expect(identify(first.pid)).toBeNull();

      const second = await start();
      expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
      await second.stop();
      expect(identify(second.pid)).toBeNull();
    });

    it('keeps its committed data over a kill -9', async () => {
      const first = await start();
      await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
      await first.kill();

      const second = await start();
      expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
      await second.stop();
    });

    it('stops a server that a killed launcher left running on the same data', async () => {
      const left = await start();
      const next = await start();
      expect(identify(left.pid)).toBeNull();
      expect(await query(next.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await next.stop();
    });

    it('lets nobody in without the password', async () => {
      const server = await start();
      const url = new URL(server.url);
      url.password = 'guess';
      await expect(query(url.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
      await server.stop();
    });
  });

  describe('anvil', () => {
    const stateFile = (): string => join(folder, 'chain', 'state.json');

    it('serves the same blocks and receipts after a stop and a start, goes on from there, and leaves no process', async () => {
      const first = await startAnvil({ stateFile: stateFile() });
      const hashes = [await transfer(first.url), await transfer(first.url), await transfer(first.url)];
      const before = await history(first.url, hashes);
      await first.stop();
      expect(identify(first.pid)).toBeNull();

      const second = await startAnvil({ stateFile: stateFile() });
      expect(await history(second.url, hashes)).toEqual(before);
      const receipt = await callRpc(second.url, 'eth_getTransactionReceipt', [await transfer(second.url)]);
      expect(receipt).toMatchObject({ blockNumber: '0x4', status: '0x1' });
      expect(await callRpc(second.url, 'eth_getBlockByNumber', ['0x4', false])).toMatchObject({
        parentHash: before.blocks[3],
      });
      await second.stop();
      expect(identify(second.pid)).toBeNull();
    });

    it('keeps over a kill -9 what was there at its last dump', async () => {
      const first = await startAnvil({ stateFile: stateFile() });
      const hash = await transfer(first.url);
      const before = await history(first.url, [hash]);
      await dumpedAgain(stateFile());
      await dumpedAgain(stateFile());
      await first.kill();

      const second = await startAnvil({ stateFile: stateFile() });
      expect(await history(second.url, [hash])).toEqual(before);
      await second.stop();
    });

    it('says what is wrong when it cannot start', async () => {
      const first = await startAnvil();
      await expect(startAnvil({ port: first.port })).rejects.toThrow(/did not start/);
      await first.stop();
    });
  });
});

/**
 * The state was written once more since this was called, as a whole. The first such dump may have begun before what was asked of the
 * node last, the second has not.
 */
async function dumpedAgain(stateFile: string): Promise<void> {
  const written = (): number => statSync(stateFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const before = written();
  await until('the state is dumped', async () => written() > before && isWhole(stateFile));
}

/** A dump in the middle of being written is no JSON. */
function isWhole(file: string): boolean {
  try {
    JSON.parse(readFileSync(file, 'utf8'));
    return true;
  } catch {
    return false;
  }
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Hash of a mined transfer between dev accounts. */
async function transfer(url: string): Promise<string> {
  const [from, to] = DEV_ACCOUNTS;
  const hash = String(await callRpc(url, 'eth_sendTransaction', [{ from, to, value: '0x1' }]));
  await poll(5_000, () => callRpc(url, 'eth_getTransactionReceipt', [hash]));
  return hash;
}

async function history(url: string, hashes: string[]): Promise<{ blocks: unknown[]; receipts: unknown[] }> {
  const blocks: unknown[] = [];
  for (let number = 0; number <= hashes.length; number++) {
    const block = await callRpc(url, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);
    blocks.push((block as { hash: string }).hash);
  }
  const receipts = await Promise.all(hashes.map((hash) => callRpc(url, 'eth_getTransactionReceipt', [hash])));
  return { blocks, receipts };
}
