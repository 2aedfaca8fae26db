import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './bootstrap.mjs';

/*
 * Prints what the product installs as a CycloneDX document, by `npm sbom`. Its own `--omit dev` leaves out what a package for development needs,
 * too, such as pg (seen with npm 11.19), so the packages are taken by the lock file.
 */

const cli = process.env.npm_execpath;
const [command, before] = cli?.endsWith('.js') ? [process.execPath, [cli]] : ['npm', []];
const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
const { stdout, stderr, status } = spawnSync(command, [...before, ...args], {
  cwd: ROOT,
  encoding: 'utf8',
  maxBuffer: 2 ** 28,
});
if (status !== 0) {
  process.stderr.write(stderr);
  process.exit(1);
}
const document = JSON.parse(stdout);
const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
const ours = new Set(
  Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`),
);
const root = document.metadata.component['bom-ref'];
const isOurs = (ref) => ref === root || ours.has(ref);
const components = document.components
  .filter((component) => isOurs(component['bom-ref']))
  .map(({ properties = [], ...component }) => ({ ...component, properties: properties.filter(isNotOfDevelopment) }));
const dependencies = document.dependencies
  .filter(({ ref }) => isOurs(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isOurs) }));
console.log(JSON.stringify({ ...document, components, dependencies }, null, 2));

/** One version may be needed for both. */
function isNotOfDevelopment({ name }) {
  return name !== 'cdx:npm:package:development';
}
