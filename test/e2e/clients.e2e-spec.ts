import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { JsonRpcProvider } from 'ethers';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const run = promisify(execFile);
const STRICT = [
  '--ignoreConfig',
  '--strict',
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--module',
  'nodenext',
];

let anvil: RunningAnvil;
let database: TestDatabase;
let service: Service;
let home: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'lockstep-client-'));
  [anvil, database] = await Promise.all([startAnvil({ extraArgs: ['--no-mining'] }), createTestDatabase()]);
  const config = { confirmations: { required: 1 } };
  service = await Service.start({ databaseUrl: database.url, rpcUrl: anvil.url, config });
});

afterAll(async () => {
  await service.stop();
  await anvil.stop();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

it('a TypeScript client that is made from the document does all that a team needs', async () => {
  const bin = (name: string): string => join('node_modules', '.bin', name);
  symlinkSync(join(process.cwd(), 'node_modules'), join(home, 'node_modules'));
  writeFileSync(join(home, 'package.json'), '{"type":"module"}');
  copyFileSync('test/clients/typescript.ts', join(home, 'client.ts'));
  await run(bin('openapi-typescript'), [`${service.url}/docs-json`, '-o', join(home, 'api.ts')]);
  await run(bin('tsc'), [...STRICT, '--types', 'node', '--target', 'es2023', join(home, 'client.ts')]).catch(
    (failure: unknown) => {
      throw new Error((failure as { stdout: string }).stdout);
    },
  );
  const [from, to] = DEV_ACCOUNTS;
  const client = async (part: string): Promise<unknown> => {
    const { stdout } = await run(process.execPath, [join(home, 'client.js'), service.url, from, to, part]);
    return JSON.parse(stdout);
  };
  expect(await client('change')).toEqual(['speed_up', 'replace', 'cancel']);
  await new JsonRpcProvider(anvil.url).send('evm_setIntervalMining', [1]);
  expect(await client('follow')).toEqual({
    state: 'CONFIRMED',
    status: 'success',
    code: 'tx_not_found',
    listed: 5,
    webhook: 'ledger whsec_',
    paidFor: 'success',
  });
});
