import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'lockstep-audit-'));

afterAll(() => rmSync(folder, { recursive: true }));

/** The script, with an npm that answers this. */
function audited(answer: unknown): { status: number | null; text: string } {
  const npm = join(folder, 'npm.js');
  writeFileSync(npm, `process.stdout.write(${JSON.stringify(JSON.stringify(answer))}); process.exitCode = 1;`);
  const { TEST_REPORT: _ignored, ...env } = process.env;
  const run = spawnSync(process.execPath, [join(ROOT, 'scripts/audit.mjs')], {
    env: { ...env, npm_execpath: npm },
    encoding: 'utf8',
  });
  return { status: run.status, text: run.stdout + run.stderr };
}

const ADVISORY = {
  name: 'fastify',
  severity: 'high',
  title: 'takes anything',
  url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc',
};

describe('the audit of packages', () => {
  it('is red for an advisory that is not accepted, and names it once', () => {
    const vulnerabilities = { fastify: { via: [ADVISORY] }, nest: { via: ['fastify', ADVISORY] } };
    const { status, text } = audited({ auditReportVersion: 2, vulnerabilities });
    expect(status).toBe(1);
    expect(text.match(/GHSA-aaaa-bbbb-cccc/g)).toHaveLength(1);
    expect(text).toContain('fastify: high: takes anything');
  });

  it('is green without one', () => {
    const { status, text } = audited({ auditReportVersion: 2, vulnerabilities: {} });
    expect([status, text.includes('0 open')]).toEqual([0, true]);
  });

  it.each([[{ message: '405 Method Not Allowed' }], ['nonsense']])(
    'did not run when the registry says %j',
    (answer) => {
      const { status, text } = audited(answer);
      expect(status).toBe(0);
      expect(text).toContain('Did not run:\n  npm audit: the registry does not tell advisories');
    },
  );
});
