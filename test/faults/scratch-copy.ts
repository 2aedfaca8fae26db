import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fault, withFault } from './fault.js';

const COPIED = ['src', 'test', 'scripts', 'migrations', 'jest.config.mjs', '.swcrc', 'tsconfig.json'];
const MORE = ['package.json', 'package-lock.json', 'lockstep.example.yaml', 'docs', 'docker', 'README.md'];

/** The project once more, in a temporary folder: a fault is never in the files that somebody works on, whatever ends this process. */
export class ScratchCopy {
  readonly folder = mkdtempSync(join(tmpdir(), 'lockstep-faults-'));

  constructor(root: string) {
    for (const name of [...COPIED, ...MORE]) cpSync(join(root, name), join(this.folder, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'), 'dir');
  }

  /** Runs `work` while the fault is in the copy. */
  async having<T>(fault: Fault, work: () => Promise<T>): Promise<T> {
    const file = join(this.folder, 'src', fault.file);
    const source = readFileSync(file, 'utf8');
    writeFileSync(file, withFault(source, fault));
    try {
      return await work();
    } finally {
      writeFileSync(file, source);
    }
  }

  remove(): void {
    // A test that was ended a moment ago may still write.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
