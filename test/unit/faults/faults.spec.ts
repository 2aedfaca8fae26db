import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { ALL_FAULTS } from '../../faults/all-faults.js';
import { FaultySources } from '../../faults/fault.js';
import { statementsOf } from '../../faults/statements.js';

const sources = new FaultySources(fileURLToPath(new URL('../../../src', import.meta.url)));

describe('the list of faults', () => {
  it('names each fault once', () => {
    const ids = ALL_FAULTS.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it.each(ALL_FAULTS)('$id can be put into the source, and changes it', (fault) => {
    const { file, source } = sources.withFault(fault);
    expect(source).not.toBe(sources.sourceOf(file));
  });

  it('finds the text of a fault whatever white space is in it, and once only', () => {
    const [fault] = ALL_FAULTS;
    if (fault === undefined) throw new Error('there are no faults');
    expect(sources.placeOf({ ...fault, text: fault.text.replaceAll(' ', '\n\n ') })).toEqual(sources.placeOf(fault));
    expect(() => sources.placeOf({ ...fault, text: ' ' })).toThrow(`times in ${fault.in}, not once`);
    expect(() => sources.placeOf({ ...fault, in: 'nobody' })).toThrow('occurs 0 times in nobody');
  });

  it('has a fault for every statement of the files that it covers', () => {
    const places = ALL_FAULTS.map((fault) => sources.placeOf(fault));
    const without = [...new Set(places.map(({ file }) => file))].flatMap((file) =>
      statementsOf(file, sources.sourceOf(file))
        .filter(({ start, end }) => !places.some((at) => at.file === file && at.start < end && at.end > start))
        .map(({ name }) => `${file}: ${name}`),
    );
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
