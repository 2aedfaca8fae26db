import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { ALL_FAULTS } from '../../faults/all-faults.js';
import { withFault } from '../../faults/fault.js';
import { statementsOf } from '../../faults/statements.js';

const SRC = fileURLToPath(new URL('../../../src', import.meta.url));

describe('the list of faults', () => {
  it('names each fault once', () => {
    const ids = ALL_FAULTS.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it.each(ALL_FAULTS)('$id can be put into the source, and changes it', (fault) => {
    const source = read(fault.file);
    expect(withFault(source, fault)).not.toBe(source);
  });

  it('has a fault for every statement of the service', () => {
    const without = sources().flatMap((file) => {
      const source = read(file);
      const places = ALL_FAULTS.filter((fault) => fault.file === file).map(({ text }) => {
        const from = source.indexOf(text);
        return { from, to: from + text.length };
      });
      return statementsOf(file, source)
        .filter(({ start, end }) => !places.some(({ from, to }) => from < end && to > start))
        .map(({ name }) => `${file}: ${name}`);
    });
    expect(without).toEqual([]);
  });
});

describe('what counts as a statement', () => {
  const names = (source: string): string[] => statementsOf('some.ts', source).map(({ name }) => name);

  it.each([
    ['a named one', `const A = { name: 'tx_a', text: \`\n  SELECT 1\` };`, 'tx_a'],
    ['a constant without a name', 'const LOOK = `SELECT 1`;', 'LOOK'],
    ['one that begins with another', 'function list() { const text = `${chains}\n  SELECT 1`; }', 'list'],
    ['any text that is asked', `async function go() { await client.query('VACUUM'); }`, 'go'],
    [
      'a call of a repository of TypeORM',
      `import { In } from 'typeorm';\nclass Q { one() { return this.txs.findOne({ where: { id } }); } }`,
      'one',
    ],
  ])('%s', (_, source, name) => {
    expect(names(source)).toEqual([name]);
  });

  it('is no sentence in English, and no search in a list', () => {
    expect(names(`const text = 'an update of rows'; const x = list.find((item) => item);`)).toEqual([]);
  });
});

/** Without what starts the development stack, which is no part of the service. */
function sources(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !file.startsWith('dev/'));
}

function read(file: string): string {
  return readFileSync(join(SRC, file), 'utf8');
}
