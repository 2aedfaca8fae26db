import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, ROOT } from './bootstrap.mjs';
import { pythonProgram, SCHEMATHESIS } from './python-program.mjs';
import { closeReport, newReport } from './report.mjs';

/*
 * Sends requests that schemathesis makes from the OpenAPI document, and checks each answer against it. How many they are is fixed, and not the
 * time, so that two runs make the same requests. With `--quick` the second seed makes only those that chance leads to, and both make few of them.
 */

const QUICK = process.argv.includes('--quick');
const BY_CHANCE = ['fuzzing', 'stateful'];
const ALL_PHASES = ['examples', 'coverage', ...BY_CHANCE];
const SEEDS = [
  { seed: 1, phases: ALL_PHASES },
  { seed: 2, phases: QUICK ? BY_CHANCE : ALL_PHASES },
];
/** Of each operation, in the phases that draw lots. */
const EXAMPLES = QUICK ? 4 : 25;
const CONFIG = `
hooks = ${JSON.stringify(join(ROOT, 'scripts', 'schemathesis.py'))}
[generation]
# PostgreSQL stores no NUL, so every text is refused that has one; no schema says so.
allow-x00 = false
[checks.positive_data_acceptance]
# A request that is valid by the document may be refused for its meaning: form_as_documented looks at the code.
expected-statuses = ['2xx', '400', '404', '409', '422', '429', '503']
[checks.negative_data_rejection]
# 413: a list that is too long by the document may make the body too large first.
expected-statuses = ['400', '404', '405', '409', '413', '415', '422', '429', '503']
[[operations]]
include-path = '/api/v1/tx/batch'
# Its answer is 200 by design: each item has a status of its own.
checks.negative_data_rejection.enabled = false
`;

const home = mkdtempSync(join(tmpdir(), 'lockstep-schemathesis-'));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));

// The service is started as `node dist/main.js`, from here.
process.chdir(ROOT);
const command = pythonProgram(SCHEMATHESIS);
if (command === null) {
  closeReport({ ...newReport(), absent: ['schemathesis: Python is missing here, or pip cannot install it'] });
  process.exit(0);
}
await ensureInstalled();
await ensureBuilt();
await import('../test/support/run-typescript.mjs');
const { runSchemathesis } = await import('../bench/schemathesis.ts');
writeFileSync(join(home, 'schemathesis.toml'), CONFIG);
for (const { seed, phases } of SEEDS) {
  const limits = ['--phases', phases.join(','), '--max-examples', String(EXAMPLES), '--request-timeout', '10'];
  // Of a slow machine, its health check says that data take too long to make.
  const chance = ['--seed', String(seed), '--generation-database', 'none', '--suppress-health-check', 'too_slow'];
  const code = await runSchemathesis(command, [...chance, ...limits], home);
  if (code !== 0) process.exit(code);
}
