import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { METRICS } from '../../src/platform/metrics/metric-table.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const README_LINES = 150;

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const below = (folder: string, ending: string): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => path.join(folder, file));

const DOCUMENTS = ['README.md', ...below('docs', '.md')];
const SOURCE = below('src', '.ts').map(read).join('\n');
const found = (pattern: RegExp): string[] => [...new Set([...SOURCE.matchAll(pattern)].map(([, text = '']) => text))];

/** As GitHub makes it from a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function leadsSomewhere(from: string, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const to = file === '' ? from : path.join(path.dirname(from), file);
  if (!existsSync(path.join(ROOT, to))) return false;
  return (
    anchor === undefined ||
    [...read(to).matchAll(/^#+ (.*)$/gm)].some(([, heading = '']) => anchorOf(heading) === anchor)
  );
}

describe('the documents', () => {
  it.each(DOCUMENTS)('%s has links that lead somewhere', (document) => {
    const targets = [...read(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const ours = targets.filter((target) => !/^https?:/.test(target));
    expect(ours.filter((target) => !leadsSomewhere(document, target))).toEqual([]);
  });

  it('begin with a README that is read in minutes', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES);
  });
});

describe('docs/operations.md', () => {
  const operations = read('docs/operations.md');

  it('says what every warning and error in the log asks for', () => {
    const lines = [
      ...found(/\blog\.(?:warn|error)\(\s*'([^']+)'/g),
      ...found(/\blost: '([^']+)'/g),
      ...found(/const reason = '([^']+)';\s*if \(!this\.stalled/g),
    ];
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.filter((line) => !operations.includes(`\`${line}\``))).toEqual([]);
  });

  it('names every metric', () => {
    expect(Object.keys(METRICS).filter((name) => !operations.includes(name))).toEqual([]);
  });
});
