import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/*
 * What a check says at its end. A script that runs others names a file in this variable: they add their reports to it in place of printing
 * them, and it prints all of them as one. Not LOCKSTEP_…: those are settings of the service.
 */
const VARIABLE = 'TEST_REPORT';
const SLOWEST = 10;

/**
 * parts: {name, ok, seconds}; files of tests: {file, seconds}; failures: {file, test, message}; flaky: the same of what failed once and passed
 * alone; absent: texts, one for each part that did not run; answers: how many were compared with the OpenAPI document
 */
export function newReport() {
  return { parts: [], files: [], failures: [], flaky: [], absent: [], answers: 0, passed: 0 };
}

/** The environment of a child whose report goes into this file. */
export function reportingTo(file) {
  return { ...process.env, [VARIABLE]: file };
}

/** Adds what the children have reported. */
export function addReports(report, file) {
  if (!existsSync(file)) return;
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const { passed, answers, ...lists } = JSON.parse(line);
    report.answers += answers;
    report.passed += passed;
    for (const [name, items] of Object.entries(lists)) report[name].push(...items);
  }
}

export function closeReport(report) {
  const file = process.env[VARIABLE];
  // A script that was interrupted waits for nobody, and its folder is gone.
  if (file && existsSync(dirname(file))) appendFileSync(file, `${JSON.stringify(report)}\n`);
  else console.log(textOf(report));
}

/** What failed comes last: whoever sees no more than the end of a log sees it. */
function textOf({ parts, files, failures, flaky, absent, answers, passed }) {
  const slowest = [...files].sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  return [
    ...list('Seconds', parts, ({ name, ok, seconds }) => `${time(seconds)}  ${name}${ok ? '' : ': FAILED'}`),
    ...list('The slowest files', slowest, ({ file, seconds }) => `${time(seconds)}  ${file}`),
    ...list('Did not run', absent, (text) => text),
    ...(answers === 0 ? [] : [`\n${answers} answers compared with the OpenAPI document`]),
    ...list('Flaky (failed, then passed alone)', flaky, failureText),
    ...list('Failed', failures, failureText),
    `\n${passed} passed, ${failures.length} failed`,
  ].join('\n');
}

function list(title, items, lineOf) {
  return items.length === 0 ? [] : [`\n${title}:`, ...items.map((item) => `  ${lineOf(item)}`)];
}

function failureText({ file, test, message }) {
  return `${file}: ${test}\n${message}`;
}

function time(seconds) {
  return seconds.toFixed(1).padStart(7);
}
