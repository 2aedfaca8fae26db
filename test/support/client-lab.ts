import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import { JsonRpcProvider } from 'ethers';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from './anvil.js';
import { Service } from './service.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

const execute = promisify(execFile);

/** A node on a chain that mines nothing yet, and a folder for a client that is made of its document. */
export class ClientLab {
  private constructor(
    readonly folder: string,
    private readonly anvil: RunningAnvil,
    private readonly database: TestDatabase,
    private readonly service: Service,
    private readonly key: string,
  ) {}

  static async start(): Promise<ClientLab> {
    const folder = mkdtempSync(join(tmpdir(), 'lockstep-client-'));
    const [anvil, database] = await Promise.all([startAnvil({ extraArgs: ['--no-mining'] }), createTestDatabase()]);
    const config = { confirmations: { required: 1 }, auth: { mode: 'apiKeys' } };
    const service = await Service.start({ databaseUrl: database.url, rpcUrl: anvil.url, config });
    return new ClientLab(folder, anvil, database, service, await service.firstKey());
  }

  get documentUrl(): string {
    return `${this.service.url}/docs-json`;
  }

  /** Runs a program in the folder. @throws Error with all that it said */
  async run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    try {
      const { stdout } = await execute(command, args, { cwd: this.folder, env: { ...process.env, ...env } });
      return stdout;
    } catch (error) {
      const { message, stdout } = error as Error & { stdout: string };
      throw new Error(`${message}\n${stdout}`, { cause: error });
    }
  }

  /** All that a team needs, by a program that takes the URL of the service, a key, two accounts, and the part to do. */
  async expectAllOf(command: string, ...args: readonly string[]): Promise<void> {
    const [from, to] = DEV_ACCOUNTS;
    const client = async (part: string): Promise<unknown> =>
      JSON.parse(await this.run(command, [...args, this.service.url, this.key, from, to, part]));
    expect(await client('change')).toEqual(['speed_up', 'replace', 'cancel']);
    await new JsonRpcProvider(this.anvil.url).send('evm_setIntervalMining', [1]);
    expect(await client('follow')).toEqual({
      state: 'CONFIRMED',
      status: 'success',
      code: 'tx_not_found',
      listed: 5,
      webhook: 'ledger whsec_',
      paidFor: 'success',
    });
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.anvil.stop();
    await this.database.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
