import { spawnSync } from 'node:child_process';
import { ROOT } from './bootstrap.mjs';
import { closeReport, newReport } from './report.mjs';

/*
 * Known weaknesses of the packages that the product installs, by `npm audit`. It asks the registry; where that does not answer, it did not run.
 */

/** Advisories that do not concern us, by their ids (GHSA-…), with the reason. */
const ACCEPTED = {};

const report = newReport();
const advisories = ask();
if (advisories === null) {
  report.absent.push('npm audit: the registry does not tell advisories');
} else {
  const open = advisories.filter(({ id }) => !(id in ACCEPTED));
  for (const { id, name, severity, title } of open) console.error(`${name}: ${severity}: ${title} (${id})`);
  const outdated = Object.keys(ACCEPTED).filter((id) => !advisories.some((one) => one.id === id));
  for (const id of outdated)
    console.error(`${id} is accepted in scripts/audit.mjs, and no package has it any more: remove it`);
  console.log(`advisories: ${open.length} open, ${advisories.length - open.length} accepted`);
  if (open.length + outdated.length > 0) process.exitCode = 1;
}
closeReport(report);

/** @returns null where there is no answer */
function ask() {
  const cli = process.env.npm_execpath;
  const [command, before] = cli?.endsWith('.js') ? [process.execPath, [cli]] : ['npm', []];
  const { stdout } = spawnSync(command, [...before, 'audit', '--omit=dev', '--json'], { cwd: ROOT, encoding: 'utf8' });
  const answer = parsed(stdout);
  if (answer?.auditReportVersion !== 2) return null;
  // What a package has only because of another one is named by a text.
  const all = Object.values(answer.vulnerabilities).flatMap(({ via }) => via.filter((one) => typeof one === 'object'));
  const byId = new Map(all.map(({ url, name, severity, title }) => [url.split('/').at(-1), { name, severity, title }]));
  return [...byId].map(([id, advisory]) => ({ id, ...advisory }));
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
