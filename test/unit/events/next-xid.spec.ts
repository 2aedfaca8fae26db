import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const SRC = fileURLToPath(new URL('../../../src', import.meta.url));
const INSERT = /INSERT INTO tx_event \(([^)]*)\)\s*SELECT ([\s\S]*?)(?:FROM|`)/g;

/** The columns and the values of every statement that writes events. */
function inserts(): { file: string; columns: string; values: string }[] {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.flatMap((file) =>
    [...readFileSync(join(SRC, file), 'utf8').matchAll(INSERT)].map(([, columns = '', values = '']) => ({
      file,
      columns,
      values,
    })),
  );
}

it('every statement that writes a later event of a tx gives it a place behind the events before', () => {
  const all = inserts();
  const unordered = all.filter(
    ({ columns, values }) => !(columns.startsWith('xid, ') && values.startsWith('${NEXT_XID}')),
  );
  expect(all.length).toBeGreaterThanOrEqual(5);
  // The first event of a tx has none before it.
  expect(unordered.filter(({ values }) => !values.includes(`'queued'`))).toEqual([]);
});
