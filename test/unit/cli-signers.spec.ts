import { expect, it } from '@jest/globals';
import { checkSigners } from '../../src/cli-signers.js';
import { configFrom } from '../../src/config/index.js';
import { DEV_ACCOUNTS, DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { Database } from '../../src/platform/database/database.js';
import { DEV_CHAIN } from '../support/builders.js';
import { fakeOf } from '../support/fakes/fake-of.js';

const FIRST = DEV_ACCOUNTS[0].toLowerCase();
const phrase = { type: 'mnemonic', phrase: DEV_MNEMONIC, count: 1 };
const NO_ANSWER = expect.stringMatching(/^chain 31337, /);

async function lines(...signers: object[]): Promise<Record<string, unknown>[]> {
  const chains = [{ id: DEV_CHAIN, rpcUrls: ['http://127.0.0.1:1'], signers }];
  const config = configFrom({ database: { url: 'postgres://nobody@localhost/none' }, chains });
  const database = fakeOf(Database, {
    query: async () => ({ rows: [], rowCount: 0, command: '', oid: 0, fields: [] }),
  });
  const printed: string[] = [];
  expect(await checkSigners(config, database, true, (line) => printed.push(line))).toBe(false);
  return printed.map((line) => JSON.parse(line) as Record<string, unknown>);
}

it('tells that an account is named twice on its chain: no node starts with that', async () => {
  const problems = (await lines(phrase, phrase)).map((line) => [line['address'], line['problems']]);
  expect(problems).toEqual([
    [FIRST, [NO_ANSWER]],
    [FIRST, [NO_ANSWER, 'it is named twice: no node starts with this config']],
  ]);
});

it('tells of an entry whose custody has no accounts, and goes on with the others', async () => {
  const keystore = { type: 'keystore', file: '/no/such/file.json', password: 'never' };
  expect(await lines(keystore, phrase)).toEqual([
    {
      isRight: false,
      chainId: DEV_CHAIN,
      custody: { type: 'keystore' },
      problems: [expect.stringMatching(/^its custody tells no accounts: .*file/)],
    },
    expect.objectContaining({ address: FIRST, signedInMs: expect.any(Number) }),
  ]);
});
