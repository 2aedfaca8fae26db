import { ConfigBuilder } from './build-config.js';
import { ConfigInvalid, type ConfigMistake } from './config-mistakes.js';
import { applyOverrides, readOverrides } from './environment-overrides.js';
import { type Environment, interpolate } from './interpolate.js';
import { LockstepConfig } from './lockstep-config.js';
import { isRawMap, type RawMap, readConfigFile } from './read-config-file.js';

export interface ConfigSources {
  readonly env?: Environment;
  /** The folder of `lockstep.yaml`, and the base of a relative `LOCKSTEP_CONFIG`. */
  readonly cwd?: string;
}

/**
 * Reads the file, replaces `${ENV}`, applies `LOCKSTEP_…` overrides, then `DATABASE_URL` if no other source names the database.
 * @throws ConfigInvalid with all mistakes
 */
export function loadConfig({ env = process.env, cwd = process.cwd() }: ConfigSources = {}): LockstepConfig {
  return configFrom(readConfigFile(env['LOCKSTEP_CONFIG'], cwd), env);
}

/** Does the same with values that are already read. @throws ConfigInvalid */
export function configFrom(file: RawMap, env: Environment = {}): LockstepConfig {
  const interpolated = interpolate(file, env);
  const { overrides, mistakes: strangers } = readOverrides(LockstepConfig, env, interpolated.variables);
  const overridden = new Set(overrides.map(({ path }) => path));
  const values = isRawMap(interpolated.value) ? interpolated.value : {};
  const builder = new ConfigBuilder();
  const config = builder.build(LockstepConfig, withDatabaseUrl(applyOverrides(values, overrides), env), '');
  const mistakes = merge(
    interpolated.mistakes.filter(({ path }) => !overridden.has(path)),
    strangers,
    builder.mistakes,
  );
  const all = merge(mistakes, crossMistakes(config).filter(isNotAftermathOf(mistakes)));
  if (all.length > 0) throw new ConfigInvalid(all);
  return config;
}

function withDatabaseUrl(values: RawMap, env: Environment): RawMap {
  const url = env['DATABASE_URL'];
  const database = values['database'] ?? {};
  // Many platforms set a variable to empty text for "not set".
  if (url === undefined || url === '' || !isRawMap(database) || (database['url'] ?? undefined) !== undefined) {
    return values;
  }
  return { ...values, database: { ...database, url } };
}

/** Keeps the first message of each path: a missing variable also causes the message for empty text, which adds nothing. */
function merge(...groups: readonly (readonly ConfigMistake[])[]): ConfigMistake[] {
  const merged: ConfigMistake[] = [];
  for (const group of groups) {
    const known = new Set(merged.map(({ path }) => path));
    merged.push(...group.filter(({ path }) => !known.has(path)));
  }
  return merged;
}

/** Skips unreadable values: they still have their defaults, and comparing a default with another key would mislead. */
function isNotAftermathOf(mistakes: readonly ConfigMistake[]): (mistake: ConfigMistake) => boolean {
  const leaseUnknown = mistakes.some(({ path }) => path === 'lease.duration' || path === 'lease');
  return ({ path }) => {
    if (path.startsWith('chains')) return !mistakes.some((known) => /^chains(\[\d+\](\.id)?)?$/.test(known.path));
    return !leaseUnknown;
  };
}

/** Checks rules that concern several keys. */
function crossMistakes(config: LockstepConfig): ConfigMistake[] {
  return [...leaseMistakes(config), ...forwardMistakes(config), ...databaseMistakes(config), ...chainMistakes(config)];
}

function leaseMistakes({ lease }: LockstepConfig): ConfigMistake[] {
  if (lease.renewInterval < lease.duration / 2) return [];
  const problem = `must be below half of lease.duration (${lease.duration}ms), so that one lost renewal does not lose the lease`;
  return [{ path: 'lease.renewInterval', problem }];
}

function forwardMistakes({ intake, node }: LockstepConfig): ConfigMistake[] {
  if (intake.notLeader !== 'forward') return [];
  return (['advertisedUrl', 'forwardSecret'] as const)
    .filter((key) => node[key] === undefined)
    .map((key) => ({ path: `node.${key}`, problem: 'is needed for intake.notLeader: forward' }));
}

function databaseMistakes({ database, lease }: LockstepConfig): ConfigMistake[] {
  if (database.statementTimeout < lease.duration) return [];
  const problem = `must be below lease.duration (${lease.duration}ms), or a stuck transaction blocks a takeover`;
  return [{ path: 'database.statementTimeout', problem }];
}

function chainMistakes({ chains }: LockstepConfig): ConfigMistake[] {
  return chains.flatMap(({ id }, index) => {
    const first = chains.findIndex((chain) => chain.id === id);
    return first === index
      ? []
      : [{ path: `chains[${index}].id`, problem: `is the same as chains[${first}].id: a chain is listed once` }];
  });
}
