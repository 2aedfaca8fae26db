import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { LaunchError } from './launch-error.js';

const ARCHITECTURES: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

export function anvilPackage(platform: string, arch: string): string {
  return `@foundry-rs/anvil-${platform}-${ARCHITECTURES[arch] ?? arch}`;
}

/** The path of the program itself: `npx anvil` is a Node process around it, and killing that leaves the chain running. */
export function findAnvil(): string {
  const name = anvilPackage(process.platform, process.arch);
  const file = join(packageFolder(name), 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
  if (existsSync(file)) return file;
  throw new LaunchError(`${file} is missing; run \`npm install\`.`);
}

function packageFolder(name: string): string {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  } catch {
    throw new LaunchError(
      `There is no ${name} in node_modules: either anvil is not published for this platform, or it was not installed. ` +
        'Run `npm install`, or set DATABASE_URL and RPC_URL to use your own database and node.',
    );
  }
}
