import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fault, FaultySources } from './fault.js';

const COPIED = ['src', 'test', 'scripts', 'migrations', 'jest.config.mjs', '.swcrc', 'tsconfig.json'];
const MORE = ['package.json', 'package-lock.json', 'lockstep.example.yaml', 'docs', 'docker', 'README.md'];

/** The project once more, in a temporary folder: a fault is never in the files that somebody works on, whatever ends this process. */
export class ScratchCopy {
  readonly folder = mkdtempSync(join(tmpdir(), 'lockstep-faults-'));

  private readonly sources: FaultySources;

  constructor(root: string) {
    for (const name of [...COPIED, ...MORE]) cpSync(join(root, name), join(this.folder, name), { recursive: true });
    this.sources = new FaultySources(join(this.folder, 'src'));
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'), 'dir');
  }

  /** Runs `work` while the fault is in the copy. */
  async having<T>(fault: Fault, work: () => Promise<T>): Promise<T> {
    const { file, source } = this.sources.withFault(fault);
    const path = join(this.folder, 'src', file);
    writeFileSync(path, source);
    try {
      return await work();
    } finally {
      writeFileSync(path, this.sources.sourceOf(file));
    }
  }

  remove(): void {
    // A test that was ended a moment ago may still write.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
