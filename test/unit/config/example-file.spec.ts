import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { fieldsOf, type ConfigClass } from '../../../src/config/config-fields.js';
import { loadConfig, LockstepConfig } from '../../../src/config/index.js';

const ROOT = process.cwd();
const EXAMPLE = 'lockstep.example.yaml';

describe('lockstep.example.yaml', () => {
  const text = readFileSync(join(ROOT, EXAMPLE), 'utf8');
  const config = loadConfig({ env: { LOCKSTEP_CONFIG: EXAMPLE }, cwd: ROOT });

  it('shows the default of every key', () => {
    const { database, chains, node, ...sections } = config;
    const { database: defaultDatabase, chains: _none, node: defaultNode, ...defaults } = new LockstepConfig();
    expect({ ...node, advertisedUrl: undefined, forwardSecret: undefined }).toEqual({ ...defaultNode });
    expect(sections).toEqual(defaults);
    expect({ ...database, url: '' }).toEqual(defaultDatabase);
    expect(chains[0]).toMatchObject({
      rpcTimeout: 10_000,
      rpcBatchSize: 100,
      rpcBatchBytes: 1_000_000,
      maxLag: 5,
      pollInterval: 1_000,
    });
  });

  it('shows every key there is', () => {
    const shown = keysIn(parse(text));
    const missing = keysOf(LockstepConfig).filter((key) => !shown.has(key));
    expect(missing).toEqual([]);
    expect(keysOf(LockstepConfig)).toContain('chains[].signers[].phrase');
  });

  it('comments every section and key that is not plain from its neighbours', () => {
    const comments = text.split('\n').filter((line) => /^\s*(- )?#/.test(line));
    expect(comments.length).toBeGreaterThan(35);
  });
});

function keysOf(type: ConfigClass, prefix = ''): string[] {
  return [...fieldsOf(type)].flatMap(([key, field]) => {
    const path = prefix + key;
    if (field.kind === 'value') return [path];
    if (field.kind === 'section') return keysOf(field.type, `${path}.`);
    const types = field.kind === 'list' ? [field.type] : Object.values(field.types);
    return types.flatMap((entry) => keysOf(entry, `${path}[].`));
  });
}

function keysIn(value: unknown, prefix = ''): Set<string> {
  if (Array.isArray(value)) return new Set([prefix, ...value.flatMap((item) => [...keysIn(item, `${prefix}[]`)])]);
  if (typeof value !== 'object' || value === null) return new Set([prefix]);
  return new Set(
    Object.entries(value).flatMap(([key, item]) => [...keysIn(item, prefix === '' ? key : `${prefix}.${key}`)]),
  );
}
