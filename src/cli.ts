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
  keyIdOf,
  MAX_NAME_CHARS,
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

/** Works on the database of the config that the nodes read, with one connection. */
async function withKeys(work: (keys: PgApiKeys) => Promise<void>): Promise<void> {
  const { database } = loadConfig();
  const { statementTimeout } = database;
  const pool = { applicationName: 'lockstep-cli', max: 1, statementTimeout };
  const source = await createDataSource(database, pool).initialize();
  try {
    await work(new PgApiKeys(new Database(source)));
  } finally {
    await source.destroy();
  }
}

async function create({ name, scope = [], allScopes, expiresIn }: CreateOptions): Promise<void> {
  const scopes = allScopes ? SCOPES : [...new Set(scope)];
  if (scopes.length === 0) return command.error('error: name the scopes with --scope, or take --all-scopes');
  const grant = { name, account: DEFAULT_ACCOUNT, scopes };
  const expiresAt = expiresIn === undefined ? null : new Date(Date.now() + expiresIn);
  await withKeys(async (keys) => {
    const { text } = await new CreateKey(keys, new UuidV7()).execute(grant, expiresAt);
    print(text);
  });
}

async function list(): Promise<void> {
  await withKeys(async (keys) => {
    for (const key of await keys.list(null, MOST_LISTED)) print(lineOf(key));
  });
}

async function revoke(text: string): Promise<void> {
  const id = keyIdOf(text);
  await withKeys(async (keys) => {
    if (id === null || !(await keys.revoke(id)))
      command.error(`error: no key ${shownOf(text)}; lockstep keys list shows the keys`);
  });
}

function lineOf({ id, name, scopes, expiresAt, revokedAt, lastUsedAt }: ApiKey): string {
  return JSON.stringify({
    id,
    prefix: prefixOf(id),
    name,
    scopes,
    expiresAt,
    revokedAt,
    lastUsedAt,
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

command.parseAsync().catch((error: unknown) => {
  if (error instanceof ConfigInvalid) {
    process.stderr.write(`${formatConfigMistakes(error)}\n`);
    process.exit(EXIT_CONFIG);
  }
  const advice = error instanceof DomainError ? ` (${error.advice})` : '';
  process.stderr.write(`error: ${messageOf(error)}${advice}\n`);
  process.exit(1);
});
