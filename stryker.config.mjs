import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/*
 * Faults are planted in the code that decides: what computes its answer from what it is given, at once. That is every `domain/` folder,
 * the kernel, and of the application all files without a promise in them: whatever waits asks a port (the database, a chain, a clock
 * that rings), and is tested with the real thing behind it, in suites that are too slow to run once for each fault.
 * Ports and types have no code, and so no faults. No kind of fault and no line is left out.
 */
const WAITS = /\b(async|await|Promise)\b/;
const application = readdirSync('src/modules', { recursive: true })
  .map((file) => path.posix.join('src/modules', file.split(path.sep).join('/')))
  .filter((file) => file.includes('/application/') && file.endsWith('.ts'))
  .filter((file) => !WAITS.test(readFileSync(file, 'utf8')));

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: ['src/modules/*/domain/**/*.ts', 'src/kernel/**/*.ts', ...application],
  plugins: ['./test/mutation/runner.mjs'],
  testRunner: 'unit',
  coverageAnalysis: 'perTest',
  // swc does not check types, in tests as in the build.
  disableTypeChecks: false,
  // A new process now and then: faults in code that runs on loading leave their copies of modules behind.
  maxTestRunnerReuse: 400,
  concurrency: 2,
  dryRunTimeoutMinutes: 20,
  thresholds: { high: 95, low: 90, break: 90 },
  reporters: ['progress-append-only', 'clear-text', 'json'],
  clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: '.stryker/report.json' },
  tempDirName: '.stryker/sandbox',
  ignorePatterns: ['/bench', '/dist', '/.ci', '/docker', '/.lockstep', '/.stryker'],
  // Most rows of the table of node errors are such faults.
  warnings: { slow: false },
};
