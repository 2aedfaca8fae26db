import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

interface Sbom {
  readonly bomFormat: string;
  readonly components: readonly { readonly 'bom-ref': string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

it('the SBOM has every package that the product installs, and none that only development needs', () => {
  const text = execFileSync(process.execPath, [join(ROOT, 'scripts/sbom.mjs')], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const { bomFormat, components, dependencies } = JSON.parse(text) as Sbom;
  const refs = new Set(components.map((component) => component['bom-ref']));
  expect(bomFormat).toBe('CycloneDX');
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly dev?: boolean }>>;
  };
  const locked = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  expect([...refs].sort()).toEqual(
    [...new Set(locked.map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`))].sort(),
  );
  expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([]);
  expect([...refs].some((ref) => ref.startsWith('pg@'))).toBe(true);
});
