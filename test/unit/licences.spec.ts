import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
/** SPDX ids that a package of the product may have: none asks for the source of what it is used in. */
const ACCEPTED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  // argparse, a part of what @nestjs/swagger reads YAML with: the licence of Python, permissive.
  'Python-2.0',
  'Unlicense',
]);

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
}

/** An SPDX expression: one licence of each OR must be accepted, and each of an AND. */
function isAccepted(expression = ''): boolean {
  const terms = expression.replace(/^\((.*)\)$/, '$1');
  if (/[()]|WITH/.test(terms)) return false;
  return terms.split(' OR ').some((choice) => choice.split(' AND ').every((id) => ACCEPTED.has(id)));
}

describe('the licences of the packages that the product installs', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const ours = Object.entries(packages).filter(([path, { dev, link }]) => path !== '' && dev !== true && link !== true);

  it('are accepted ones: a package with another one is left out, or its licence joins the list here, with a reason', () => {
    const refused = ours.filter(([, { license }]) => !isAccepted(license));
    expect(refused.map(([path, { version, license }]) => `${path} ${version}: ${license ?? 'no licence'}`)).toEqual([]);
    expect(ours.length).toBeGreaterThan(100);
  });

  it('are those that the installed packages have themselves', () => {
    const other = ours.flatMap(([path, { license }]) => {
      const installed = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8')) as LockedPackage;
      return installed.license === license ? [] : [`${path}: ${installed.license}, not ${license}`];
    });
    expect(other).toEqual([]);
  });

  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['MIT AND GPL-3.0-only', false],
    ['GPL-3.0-only', false],
    ['SEE LICENSE IN LICENSE', false],
    ['(MIT AND (ISC OR GPL-2.0-only))', false],
    ['', false],
    [undefined, false],
  ])('%s: accepted is %s', (expression, accepted) => {
    expect(isAccepted(expression)).toBe(accepted);
  });
});
