import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { fieldsOf, typesOf, type ConfigClass } from '../../../src/config/config-fields.js';
import { ChainConfig, chainInForce, loadConfig, LockstepConfig } from '../../../src/config/index.js';
import { HEARTBEAT_CONNECTIONS } from '../../../src/platform/database/data-source.js';

const ROOT = process.cwd();
const EXAMPLE = 'lockstep.example.yaml';
/**
 * 74, auth.mode, the keys that encrypt the secrets of webhooks, the two files of TLS, opsPort, the eleven of a policy, four limits, what the tokens of an
 * issuer have, the accounts of other nodes, which no default can know, and six of the keys that files, other processes and key services have.
 */
const MOST_KEYS = 112;
/** Each is one `LISTEN`: for work, for news of events, and for news of keys. */
const LISTENERS = 3;
/** What the example gives instead of a default: they have none, or depend on the deployment. */
const EXAMPLES: ReadonlySet<string> = new Set([
  'server.opsPort',
  'chains[].signers[].addresses',
  'chains[].signers[].file',
  'chains[].signers[].password',
  'chains[].signers[].url',
  'chains[].signers[].publicKeys',
  'chains[].signers[].keyIds',
  'auth.jwt.issuer',
  'auth.jwt.audience',
  'auth.jwt.jwksUrl',
  'auth.jwt.accountClaim',
  'auth.jwt.signersClaim',
  'auth.jwt.chainsClaim',
  'node.advertisedUrl',
  'database.url',
  'chains[].id',
  'chains[].name',
  'chains[].rpcUrls',
  'chains[].wsUrls',
  'chains[].confirmations.finality',
  'chains[].confirmations.required',
  'chains[].transactionGasCap',
  'chains[].lowBalance',
  'chains[].errorPatterns[].pattern',
  'chains[].errorPatterns[].class',
  'broker.type',
  'chains[].signers[].type',
  'chains[].signers[].key',
  'chains[].signers[].phrase',
  'chains[].signers[].fees.maxFeePerGas',
  'chains[].signers[].fees.maxPriorityFeePerGas',
  'chains[].signers[].fees.maxFeePerBlobGas',
  'chains[].signers[].policy.to[].address',
  'chains[].signers[].policy.to[].selectors',
  'chains[].signers[].policy.maxValue',
  'chains[].signers[].policy.maxFee',
  'chains[].signers[].policy.dailyValue',
  'chains[].signers[].policy.dailyFees',
  'chains[].signers[].policy.typedData',
]);

/** Keys whose default depends on the chain: the example shows that of a chain without a profile. */
const NO_PROFILE = chainInForce(new ChainConfig(), new LockstepConfig());
const OF_NO_PROFILE: Readonly<Record<string, unknown>> = {
  'confirmations.finality': NO_PROFILE.finality.value,
  'confirmations.required': NO_PROFILE.confirmations.value,
  'execution.inFlightStart': NO_PROFILE.inFlightStart.value,
  'chains[].maxLag': NO_PROFILE.maxLag.value,
  'chains[].pollInterval': NO_PROFILE.pollInterval.value,
  'chains[].fees.minPriorityFeePerGas': NO_PROFILE.minPriorityFeePerGas.value,
  'chains[].l1DataFee': NO_PROFILE.l1DataFee.value,
};

interface Key {
  /** As in the file, with `[]` for an index. */
  readonly path: string;
  readonly fallback: unknown;
}

describe('lockstep.example.yaml', () => {
  const text = readFileSync(join(ROOT, EXAMPLE), 'utf8');
  const written: unknown = parse(text);
  const config = loadConfig({ env: { LOCKSTEP_CONFIG: EXAMPLE }, cwd: ROOT });
  const keys = keysOf(LockstepConfig);

  it(`has every key there is, and they are ${MOST_KEYS} at most`, () => {
    const paths = new Set(keys.map(({ path }) => path));
    expect(new Set(valuesIn(written).keys())).toEqual(paths);
    expect(paths).toContain('chains[].signers[].phrase');
    expect(paths.size).toBeLessThanOrEqual(MOST_KEYS);
  });

  it('shows the default of every key that has one', () => {
    const { broker } = loadConfig({ env: { LOCKSTEP_CONFIG: EXAMPLE, LOCKSTEP_BROKER_TYPE: 'nats' }, cwd: ROOT });
    const shown = valuesIn({ ...config, broker });
    expect(config.broker).toBeUndefined();
    const withDefault = keys.filter(({ path }) => !EXAMPLES.has(path));
    const wrong = withDefault.filter(({ path, fallback }) => !(shown.get(path) ?? [undefined]).some(isLike(fallback)));
    expect(wrong).toEqual([]);
    expect([...EXAMPLES].filter((path) => !keys.some((key) => key.path === path))).toEqual([]);
  });

  it('has no secret by which nodes know each other: everybody who read it could send what a node forwards, without a key', () => {
    expect(config.node.forwardSecret).toBeUndefined();
  });

  it('and the documents tell the number of connections that a node opens', () => {
    const { poolSize, readPoolSize } = config.database;
    const connections = poolSize + readPoolSize + HEARTBEAT_CONNECTIONS + LISTENERS;
    expect(text).toContain(`${connections} connections by default`);
    const told = ['README.md', 'docs/configuration.md'].flatMap((file) => [
      ...readFileSync(join(ROOT, file), 'utf8').matchAll(/(\d+) (?:connections )?by default/g),
    ]);
    expect(told.map(([, number]) => Number(number))).toEqual(told.map(() => connections));
    expect(told.length).toBeGreaterThan(0);
  });

  it('comments every section and key that is not plain from its neighbours', () => {
    const comments = text.split('\n').filter((line) => /^\s*(- )?#/.test(line));
    expect(comments.length).toBeGreaterThan(35);
  });
});

const isLike =
  (fallback: unknown) =>
  (value: unknown): boolean =>
    String(value) === String(fallback);

function keysOf(type: ConfigClass, prefix = ''): Key[] {
  const defaults = new type();
  return [...fieldsOf(type)].flatMap(([key, field]): Key[] => {
    const path = prefix + key;
    if (field.kind === 'value') return [{ path, fallback: Reflect.get(defaults, key) ?? OF_NO_PROFILE[path] }];
    return typesOf(field.type).flatMap((one) => keysOf(one, field.kind === 'section' ? `${path}.` : `${path}[].`));
  });
}

/** The values at each path; those of a list that has no keys are one value. */
function valuesIn(value: unknown, path = '', found = new Map<string, unknown[]>()): Map<string, unknown[]> {
  if (Array.isArray(value) && value.some((item) => typeof item === 'object'))
    for (const item of value) valuesIn(item, `${path}[]`, found);
  else if (typeof value === 'object' && value !== null && !Array.isArray(value))
    for (const [key, item] of Object.entries(value)) valuesIn(item, path === '' ? key : `${path}.${key}`, found);
  else found.set(path, [...(found.get(path) ?? []), value]);
  return found;
}
