import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { atExit } from './at-exit.js';

export interface Child {
  /** What it said first: a text. */
  readonly greeting: string;
  stop(): Promise<void>;
}

const HOOKS = new URL('../../test/support/run-typescript.mjs', import.meta.url).href;

/** A TypeScript program of `bench/children` as a process of its own. It says one thing when it is ready. */
export async function startChild(name: string, args: readonly string[]): Promise<Child> {
  const file = fileURLToPath(new URL(`../children/${name}.ts`, import.meta.url));
  const child = fork(file, [...args], { execArgv: ['--no-warnings', '--import', HOOKS] });
  const forget = atExit(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const ended = exited.then(() => {
    throw new Error(`${name} ended before it was ready`);
  });
  const greeted = new Promise<string>((resolve) => child.once('message', (words) => resolve(words as string)));
  const greeting = await Promise.race([greeted, ended]);
  // It ends when it is stopped, and nobody asks why.
  ended.catch(() => undefined);
  return {
    greeting,
    async stop() {
      child.kill('SIGKILL');
      await exited;
      forget();
    },
  };
}
