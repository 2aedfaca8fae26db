import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const SOURCES = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(`src/${file}`, 'utf8'));

it('two schemas of the document never have one name', () => {
  const names = SOURCES.filter((text) => text.includes('@nestjs/swagger')).flatMap((text) =>
    [...text.matchAll(/^(?:export )?class (\w+Dto)\b/gm)].map(([, name]) => name),
  );
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
