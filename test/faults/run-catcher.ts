import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Catcher } from './fault.js';

/** What the tests said: `broken` when they said nothing about the fault, because none ran. */
export type Verdict =
  | { readonly kind: 'green' }
  | { readonly kind: 'red'; readonly by: string }
  | { readonly kind: 'broken'; readonly reason: string };

/** Whoever has not ended by then hangs, which is as red as a failure: so many times as long as without a fault, and at least the second. */
const PATIENCE = 4;
const SHORTEST_MS = 180_000;
/** Without a fault, on a busy machine. */
const LONGEST_MS = 1_200_000;
/** A fault has to be a mistake in what is asked, not a statement that PostgreSQL cannot read. */
const UNREADABLE = /syntax error at (or near|end of input)|Expected .*, got /;
const JEST = ['node_modules/jest/bin/jest.js'];
const RESULTS = 'results-of-faults.json';

interface JestResults {
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

export class CatcherRunner {
  private running: ChildProcess | null = null;
  /** Milliseconds of the first run of each, which is without a fault. */
  private readonly usual = new Map<string, number>();

  constructor(
    private readonly folder: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  /** Runs what all of them name, one after the other, until something is not green. */
  async run(catchers: readonly Catcher[]): Promise<Verdict> {
    for (const catcher of catchers) {
      const verdict = await this.test(catcher);
      if (verdict.kind !== 'green') return verdict;
    }
    return { kind: 'green' };
  }

  kill(): void {
    this.running?.kill('SIGKILL');
  }

  private async test({ project, path }: Catcher): Promise<Verdict> {
    const file = join(this.folder, RESULTS);
    rmSync(file, { force: true });
    const flags = ['--selectProjects', project, '--runInBand', '--json', '--outputFile', RESULTS];
    const named = `${project} ${path}`;
    const usual = this.usual.get(named);
    const start = performance.now();
    const { hung } = await this.node(
      [...JEST, path, ...flags],
      usual === undefined ? LONGEST_MS : Math.max(SHORTEST_MS, PATIENCE * usual),
    );
    if (usual === undefined) this.usual.set(named, performance.now() - start);
    if (hung) return { kind: 'red', by: 'hung' };
    if (!existsSync(file)) return { kind: 'broken', reason: `Jest did not run ${named}` };
    return judge(JSON.parse(readFileSync(file, 'utf8')) as JestResults, named);
  }

  private node(args: readonly string[], longestMs: number): Promise<{ hung: boolean }> {
    const child = spawn(process.execPath, args, { cwd: this.folder, env: this.env, stdio: 'ignore' });
    this.running = child;
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      child.kill('SIGKILL');
    }, longestMs);
    return new Promise((resolve) => {
      child.once('close', () => {
        clearTimeout(timer);
        this.running = null;
        resolve({ hung });
      });
    });
  }
}

function judge({ numTotalTests, testResults }: JestResults, named: string): Verdict {
  const unreadable = testResults.map(({ message }) => UNREADABLE.exec(message)?.[0]).find((text) => text !== undefined);
  if (unreadable !== undefined) return { kind: 'broken', reason: unreadable };
  if (numTotalTests === 0) return { kind: 'broken', reason: `no test ran of ${named}` };
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  );
  const [first] = failed;
  return first === undefined ? { kind: 'green' } : { kind: 'red', by: first };
}
