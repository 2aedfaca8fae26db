import { Worker } from 'jest-worker';
import { fileURLToPath } from 'node:url';

/*
 * Runs the files of a suite in a few processes of plain Node. Jest's own runner makes a new world for every file, and loads Nest, TypeORM and
 * ethers anew into each, which took most of the time of the unit tests. Here each process loads a module once and the engine compiles it once.
 * What a file changes for all (timers, spies, the environment) is put back after it (file.mjs). Registration, hooks, time-outs and matchers
 * are Jest's own.
 */

const HOOKS = new URL('./register.mjs', import.meta.url).href;
/** A test makes all objects of a node and lets them go: with room for more of them, in MB, the engine collects less often, for 5 % less CPU. */
const YOUNG_OBJECTS = '--max-semi-space-size=64';

/**
 * Of few lines, and the longest of their suites. Jest starts with the largest files while it knows no times, as in a fresh clone: these came
 * last, and the other processes had nothing to do beside them.
 */
const LONGEST =
  /\/(thrown-problems|openapi-document)\.spec\.ts$|\/(simulator|neighbour-register)\.int-spec\.ts$|\/(simulator-bugs|rate-limit|crash-points|kill-storm)\.chaos-spec\.ts$/;

export default class SharedModulesRunner {
  supportsEventEmitters = false;
  isSerial = false;

  constructor(globalConfig) {
    this.globalConfig = globalConfig;
  }

  async runTests(tests, watcher, onStart, onResult, onFailure) {
    const { maxWorkers, testNamePattern, testTimeout } = this.globalConfig;
    const workers = new Worker(fileURLToPath(new URL('./file.mjs', import.meta.url)), {
      exposedMethods: ['runFile'],
      numWorkers: Math.min(maxWorkers, tests.length),
      // A process that dies fails its file; the file is not run again.
      maxRetries: 0,
      forkOptions: { stdio: 'pipe', execArgv: ['--no-warnings', YOUNG_OBJECTS, '--import', HOOKS] },
    });
    workers.getStdout().pipe(process.stdout);
    workers.getStderr().pipe(process.stderr);
    const waiting = tests.toSorted((a, b) => LONGEST.test(b.path) - LONGEST.test(a.path));
    const runNext = async () => {
      for (let test = waiting.shift(); test !== undefined && !watcher.isInterrupted(); test = waiting.shift()) {
        await onStart(test);
        const { config } = test.context;
        try {
          onResult(test, await workers.runFile(test.path, { config, testNamePattern, testTimeout }));
        } catch (error) {
          onFailure(test, error);
        }
      }
    };
    await Promise.all(Array.from({ length: maxWorkers }, runNext));
    await workers.end();
  }
}
