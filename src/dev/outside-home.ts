import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LaunchError } from './launch-error.js';
import { ROOT } from './paths.js';

/**
 * The folder for files that the server's user cannot access inside this clone (for example a clone below /root, mode 700). /var/tmp and not
 * /tmp, because /var/tmp survives a restart of the machine.
 */
export function outsideHome(root: string = ROOT): string {
  const base = existsSync('/var/tmp') ? '/var/tmp' : tmpdir();
  return join(base, `lockstep-${createHash('sha256').update(root).digest('hex').slice(0, 12)}`);
}

/** Refuses a folder of another user: the name can be guessed. */
export function claimOutsideHome(root: string = ROOT): string {
  const home = outsideHome(root);
  mkdirSync(home, { recursive: true, mode: 0o755 });
  const found = lstatSync(home);
  if (found.isDirectory() && found.uid === process.getuid?.()) return home;
  throw new LaunchError(`${home} belongs to another user; remove it, or clone to a folder that every user can enter.`);
}
