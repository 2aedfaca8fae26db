#!/usr/bin/env node
import 'reflect-metadata';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ConfigInvalid, formatConfigMistakes, loadConfig } from './config/index.js';
import { parseDuration, parseLimit, parseSizeLimit } from './config/value-parsers.js';
import { DEFAULT_ACCOUNT, isScope, limitedTo, type Scope, SCOPES } from './kernel/caller.js';
import { hasCharacters } from './kernel/characters.js';
import { DomainError, messageOf } from './kernel/errors.js';
import { type ChainId, chainIdOf, type SignerId, signerOfKey } from './kernel/signer-id.js';
import {
  ACCOUNT_NAME,
  ALL_KEYS,
  type ApiKey,
  CreateKey,
  keyIdOf,
  MAX_NAME_CHARS,
  PgAccounts,
  PgApiKeys,
  prefixOf,
  shownOf,
  type StoredLimits,
} from './modules/access/index.js';
import { createDataSource } from './platform/database/data-source.js';
import { Database } from './platform/database/database.js';
import { PgAuditLog } from './platform/database/pg-audit-log.js';
import { limitValues } from './platform/database/within-limits.js';
import { clientAddress } from './platform/http/client-address.js';
import { UuidV7 } from './platform/identity/uuid-v7.js';

/** EX_CONFIG of sysexits.h, as the service exits. */
const EXIT_CONFIG = 78;
const MOST_LISTED = 1_000;
/** Whoever has the database can say anything of themselves. */
const BY = { name: 'command-line', account: DEFAULT_ACCOUNT };
const LONGEST_MS = 36_525 * 86_400_000;

/** Infinite for no limit. */
interface LimitOptions {
  readonly requestsPerSecond?: number;
  readonly bytesPerSecond?: number;
  readonly streams?: number;
  readonly waitingTxs?: number;
  readonly webhookEndpoints?: number;
}

interface CreateOptions {
  readonly name: string;
  readonly account?: string;
  readonly signer?: readonly SignerId[];
  readonly chain?: readonly ChainId[];
  readonly scope?: readonly Scope[];
  readonly allScopes?: true;
  readonly expiresIn?: number;
}

/** Each use of the option adds a scope. @throws InvalidArgumentError */
function withScope(text: string, before: readonly Scope[] = []): readonly Scope[] {
  if (isScope(text)) return [...before, text];
  throw new InvalidArgumentError(`The scopes are ${SCOPES.join(', ')}.`);
}

/** Each use of the option adds a signer. @throws InvalidArgumentError */
function withSigner(text: string, before: readonly SignerId[] = []): readonly SignerId[] {
  const signer = signerOfKey(text);
  if (signer === null) throw new InvalidArgumentError('It is a chain id, a colon and an address: 1:0x…');
  try {
    clientAddress(text.slice(text.indexOf(':') + 1), signer.chainId);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
  return [...before, signer];
}

/** Each use of the option adds a chain. @throws InvalidArgumentError */
function withChain(text: string, before: readonly ChainId[] = []): readonly ChainId[] {
  const chainId = chainIdOf(text);
  if (chainId !== null) return [...before, chainId];
  throw new InvalidArgumentError('It is a chain id, such as 1.');
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
  if (ACCOUNT_NAME.test(text)) return text;
  throw new InvalidArgumentError(
    'It has up to 100 letters, digits, dots, hyphens and underscores, and begins with a letter or a digit.',
  );
}

/** @throws InvalidArgumentError */
function limitOf(parse: (text: string) => number): (text: string) => number {
  return (text) => {
    try {
      const limit = parse(text);
      if (limit === Infinity || (Number.isSafeInteger(limit) && limit >= 1)) return limit;
    } catch (error) {
      throw new InvalidArgumentError(messageOf(error));
    }
    throw new InvalidArgumentError('It is off, or at least 1.');
  };
}

function withLimits(command: Command): Command {
  return command
    .option('--requests-per-second <limit>', 'each item of a batch is one; off for no limit', limitOf(parseLimit))
    .option('--bytes-per-second <limit>', 'of the bodies of requests, such as 1mb', limitOf(parseSizeLimit))
    .option('--streams <limit>', 'streams and long polls that are open', limitOf(parseLimit))
    .option('--waiting-txs <limit>', 'transactions that wait for a nonce', limitOf(parseLimit))
    .option('--webhook-endpoints <limit>', 'webhook endpoints that it has', limitOf(parseLimit));
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
  await withDatabase((database) => work(new PgApiKeys(database, new PgAuditLog(database, database))));
}

async function withAccounts(work: (accounts: PgAccounts) => Promise<void>): Promise<void> {
  await withDatabase((database) => work(new PgAccounts(database, new PgAuditLog(database, database))));
}

async function create({
  name,
  account,
  signer,
  chain,
  scope = [],
  allScopes,
  expiresIn,
}: CreateOptions): Promise<void> {
  const scopes = allScopes ? SCOPES : [...new Set(scope)];
  if (scopes.length === 0) return command.error('error: name the scopes with --scope, or take --all-scopes');
  const expiresAt = expiresIn === undefined ? null : new Date(Date.now() + expiresIn);
  await withDatabase(async (database) => {
    const audit = new PgAuditLog(database, database);
    const owner = account === undefined ? DEFAULT_ACCOUNT : (await new PgAccounts(database, audit).find(account)).id;
    const only = limitedTo(signer ?? null, chain ?? null);
    const grant = { name, account: owner, scopes, only, expiresAt };
    const { text } = await new CreateKey(new PgApiKeys(database, audit), new UuidV7()).execute(grant, BY);
    print(text);
  });
}

async function list(): Promise<void> {
  await withKeys(async (keys) => {
    for (const key of await keys.list(null, MOST_LISTED, ALL_KEYS)) print(lineOf(key));
  });
}

async function revoke(text: string): Promise<void> {
  const id = keyIdOf(text);
  await withKeys(async (keys) => {
    if (id === null || (await keys.revoke(id, ALL_KEYS, BY)) === null)
      command.error(`error: no key ${shownOf(text)}; lockstep keys list shows the keys`);
  });
}

function lineOf({ id, name, account, scopes, only, expiresAt, revokedAt, lastUsedAt }: ApiKey): string {
  const [signers, chainIds] = limitValues(only);
  return JSON.stringify({
    id,
    prefix: prefixOf(id),
    name,
    account,
    scopes,
    signers,
    chainIds,
    expiresAt,
    revokedAt,
    lastUsedAt,
  });
}

async function createAccount(name: string, options: LimitOptions): Promise<void> {
  const account = { id: new UuidV7().next(), name, limits: limitsOf(options) };
  await withAccounts(async (accounts) => print(JSON.stringify(await accounts.add(account, BY))));
}

async function limitAccount(name: string, options: LimitOptions): Promise<void> {
  await withAccounts(async (accounts) => print(JSON.stringify(await accounts.setLimits(name, limitsOf(options), BY))));
}

/** Null when none is given. */
function limitsOf(options: LimitOptions): StoredLimits | null {
  const given = Object.entries(options as Readonly<Record<string, number>>).map(([name, limit]) => [
    name,
    limit === Infinity ? null : limit,
  ]);
  return given.length === 0 ? null : (Object.fromEntries(given) as StoredLimits);
}

async function listAccounts(): Promise<void> {
  await withAccounts(async (accounts) => {
    for (const account of await accounts.list(null, MOST_LISTED, null)) print(JSON.stringify(account));
  });
}

function switchAccount(isDisabled: boolean): (name: string) => Promise<void> {
  return (name) =>
    withAccounts(async (accounts) => print(JSON.stringify(await accounts.setDisabled(name, isDisabled, BY))));
}

async function checkSigners({ json }: { readonly json?: true }): Promise<void> {
  // Only this command needs the chains and the custodies.
  const { checkSigners: check } = await import('./cli-signers.js');
  const config = loadConfig();
  await withDatabase(async (database) => {
    // A custody that was not waited for would keep the process.
    process.exit((await check(config, database, json === true, print)) ? 0 : 1);
  });
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
  .addOption(new Option('--signer <signer>', 'it may use only this, such as 1:0x…; repeat it').argParser(withSigner))
  .addOption(new Option('--chain <id>', 'it may use only this chain; repeat it for several').argParser(withChain))
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

command
  .command('signers')
  .description('The signers of the config.')
  .command('check')
  .option('--json', 'one line of JSON for each')
  .description(
    'Of each signer: whether its custody can be reached and has the right key, whether a test signature recovers, its balance and nonces. Changes nothing; exits with 1 when something is wrong.',
  )
  .action(checkSigners);

const accounts = command
  .command('accounts')
  .description('Accounts own keys, and what is made with them. Reads the config that the nodes read.');
withLimits(accounts.command('create').argument('<name>', 'for people', accountNameOf))
  .description('Make an account. A limit that is not given is as the config has it.')
  .action(createAccount);
withLimits(accounts.command('limits').argument('<name>'))
  .description('Set the limits of an account in place of those it has; one that is not given is as the config has it.')
  .action(limitAccount);
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
