import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Names of versions that mean another one tomorrow, open ranges, and installers that take whatever there is. */
const MOVING = /\b(latest|stable|nightly|edge)\b|@[~^>*]|[~>]=\s?\d|apt(-get)? install|\bnpx\b/;

const filesOf = (folder: string): string[] => readdirSync(path.join(ROOT, folder)).map((file) => `${folder}/${file}`);

describe('what is installed from outside', () => {
  it.each([...filesOf('.ci'), ...filesOf('scripts')])('%s names no moving version', (file) => {
    const lines = readFileSync(path.join(ROOT, file), 'utf8').split('\n');
    expect(lines.filter((line) => MOVING.test(line))).toEqual([]);
  });

  it.each([
    'go install example.org/x@latest',
    'image: ghcr.io/x/y:stable',
    'npm install x@^1.2.0',
    'pip install x>=2',
    'apt-get install -y x',
  ])('would be noticed as: %s', (line) => {
    expect(MOVING.test(line)).toBe(true);
  });
});
