import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';

describe('a configuration with mistakes', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'lockstep-config-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('ends the start with exit code 78 and all of them, before anything is asked of the database', async () => {
    const file = join(directory, 'lockstep.yaml');
    const errorPatterns = [
      { pattern: '(', class: 'underpriced' },
      { pattern: 'ok', class: 'nonsense' },
    ];
    const chain = { id: 1, rpcUrls: ['http://127.0.0.1:1'], wsUrls: ['http://127.0.0.1:1/secret-path'], errorPatterns };
    writeFileSync(file, stringify({ database: { url: 'postgres://nobody@127.0.0.1:1/none' }, chains: [chain] }));
    const child = spawn(process.execPath, ['dist/main.js'], {
      env: { ...process.env, NODE_OPTIONS: '', LOCKSTEP_CONFIG: file },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const words: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => words.push(chunk.toString()));
    expect(await once(child, 'close')).toEqual([78, null]);
    const text = words.join('');
    expect(text).toContain('the configuration has 3 mistakes');
    expect(text).toContain('chains[0].wsUrls: must be ws:// or wss:// URLs');
    expect(text).toContain('chains[0].errorPatterns[0].pattern: must be a regular expression');
    expect(text).toContain('chains[0].errorPatterns[1].class: must be one of already_known');
    expect(text).not.toContain('secret-path');
  });
});
