#!/usr/bin/env node
import 'reflect-metadata';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ConfigInvalid, formatConfigMistakes, loadConfig } from './config/index.js';
import { parseDuration } from './config/value-parsers.js';
import { DEFAULT_ACCOUNT, isScope, type Scope, SCOPES } from './kernel/caller.js';
import { hasCharacters } from './kernel/characters.js';
import { DomainError, messageOf } from './kernel/errors.js';
import {
  type ApiKey,
  CreateKey,
  isAccountName,
  keyIdOf,
  MAX_NAME_CHARS,
  PgAccounts,
  PgApiKeys,
  prefixOf,
  shownOf,
} from './modules/access/index.js';
import { createDataSource } from './platform/database/data-source.js';
import { Database } from './platform/database/database.js';
import { UuidV7 } from './platform/identity/uuid-v7.js';

/** EX_CONFIG of sysexits.h, as the service exits. */
const EXIT_CONFIG = 78;
const MOST_LISTED = 1_000;
const LONGEST_MS = 36_525 * 86_400_000;

interface CreateOptions {
  readonly name: string;
  readonly account?: string;
  readonly scope?: readonly Scope[];
  readonly allScopes?: true;
  readonly expiresIn?: number;
}

/** Each use of the option adds a scope. @throws InvalidArgumentError */
function withScope(text: string, before: readonly Scope[] = []): readonly Scope[] {
  if (isScope(text)) return [...before, text];
  throw new InvalidArgumentError(`The scopes are ${SCOPES.join(', ')}.`);
}

/** @throws InvalidArgumentError */
function durationOf(text: string): number {
  try {
    const duration = parseDuration(text);
    if (duration > 0 && duration <= LONGEST_MS) return duration;
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
  throw new InvalidArgumentError('A key lasts from one millisecond to a hundred years.');
}

/** @throws InvalidArgumentError */
function nameOf(text: string): string {
  if (hasCharacters(text, 1, MAX_NAME_CHARS)) return text;
  throw new InvalidArgumentError(`It has 1 to ${MAX_NAME_CHARS} characters.`);
}

/** @throws InvalidArgumentError */
function accountNameOf(text: string): string {
  if (isAccountName(text)) return text;
  throw new InvalidArgumentError(
    'It has up to 100 letters, digits, dots, hyphens and underscores, and begins with a letter or a digit.',
  );
}

/** Works on the database of the config that the nodes read, with one connection. */
async function withDatabase(work: (database: Database) => Promise<void>): Promise<void> {
  const { database } = loadConfig();
  const { statementTimeout } = database;
  const pool = { applicationName: 'lockstep-cli', max: 1, statementTimeout };
  const source = await createDataSource(database, pool).initialize();
  try {
    await work(new Database(source));
  } finally {
    await source.destroy();
  }
}

async function withKeys(work: (keys: PgApiKeys) => Promise<void>): Promise<void> {
  await withDatabase((database) => work(new PgApiKeys(database)));
}

async function withAccounts(work: (accounts: PgAccounts) => Promise<void>): Promise<void> {
  await withDatabase((database) => work(new PgAccounts(database)));
}

async function create({ name, account, scope = [], allScopes, expiresIn }: CreateOptions): Promise<void> {
  const scopes = allScopes ? SCOPES : [...new Set(scope)];
  if (scopes.length === 0) return command.error('error: name the scopes with --scope, or take --all-scopes');
  const expiresAt = expiresIn === undefined ? null : new Date(Date.now() + expiresIn);
  await withDatabase(async (database) => {
    const owner = account === undefined ? DEFAULT_ACCOUNT : (await new PgAccounts(database).find(account)).id;
    const grant = { name, account: owner, scopes };
    const { text } = await new CreateKey(new PgApiKeys(database), new UuidV7()).execute(grant, expiresAt);
    print(text);
  });
}

async function list(): Promise<void> {
  await withKeys(async (keys) => {
    for (const key of await keys.list(null, MOST_LISTED, null)) print(lineOf(key));
  });
}

async function revoke(text: string): Promise<void> {
  const id = keyIdOf(text);
  await withKeys(async (keys) => {
    if (id === null || !(await keys.revoke(id, null)))
      command.error(`error: no key ${shownOf(text)}; lockstep keys list shows the keys`);
  });
}

function lineOf({ id, name, account, scopes, expiresAt, revokedAt, lastUsedAt }: ApiKey): string {
  return JSON.stringify({
    id,
    prefix: prefixOf(id),
    name,
    account,
    scopes,
    expiresAt,
    revokedAt,
    lastUsedAt,
  });
}

async function createAccount(name: string): Promise<void> {
  await withAccounts(async (accounts) => print(JSON.stringify(await accounts.add(new UuidV7().next(), name))));
}

async function listAccounts(): Promise<void> {
  await withAccounts(async (accounts) => {
    for (const account of await accounts.list(MOST_LISTED)) print(JSON.stringify(account));
  });
}

function switchAccount(isDisabled: boolean): (name: string) => Promise<void> {
  return (name) =>
    withAccounts(async (accounts) => print(JSON.stringify(await accounts.setDisabled(name, isDisabled))));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const command = new Command('lockstep').description('Commands that work on the database of a deployment of Lockstep.');
const keys = command.command('keys').description('The keys of the API. Reads the config that the nodes read.');
keys
  .command('create')
  .description('Print a new key. It is shown only now.')
  .requiredOption('--name <name>', 'what uses the key, for people', nameOf)
  .option('--account <name>', 'the account that it belongs to; without, that of the operators', accountNameOf)
  .addOption(new Option('--scope <scope>', 'what it may do; repeat it for several').argParser(withScope))
  .addOption(new Option('--all-scopes', 'it may do everything').conflicts('scope'))
  .addOption(new Option('--expires-in <duration>', 'such as 90d; without, never').argParser(durationOf))
  .action(create);
keys.command('list').description('Print the keys, newest first, one line of JSON each.').action(list);
keys
  .command('revoke')
  .argument('<id>')
  .description(
    'Revoke a key, named by its id, by its prefix or by all of it: within seconds no node takes it any more.',
  )
  .action(revoke);

const accounts = command
  .command('accounts')
  .description('Accounts own keys, and what is made with them. Reads the config that the nodes read.');
accounts
  .command('create')
  .argument('<name>', 'for people', accountNameOf)
  .description('Make an account.')
  .action(createAccount);
accounts.command('list').description('Print the accounts, by name, one line of JSON each.').action(listAccounts);
accounts
  .command('disable')
  .argument('<name>')
  .description('Within seconds no node takes a key of the account.')
  .action(switchAccount(true));
accounts
  .command('enable')
  .argument('<name>')
  .description('The keys of the account can be used again.')
  .action(switchAccount(false));

command.parseAsync().catch((error: unknown) => {
  if (error instanceof ConfigInvalid) {
    process.stderr.write(`${formatConfigMistakes(error)}\n`);
    process.exit(EXIT_CONFIG);
  }
  const advice = error instanceof DomainError ? ` (${error.advice})` : '';
  process.stderr.write(`error: ${messageOf(error)}${advice}\n`);
  process.exit(1);
});
