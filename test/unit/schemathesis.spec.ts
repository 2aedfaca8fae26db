import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

/** A clone in which no program of Python was installed, on a machine where none can be found. */
it('the check of the document by requests did not run where Python is missing, which is no failure', () => {
  const clone = mkdtempSync(join(tmpdir(), 'lockstep-without-python-'));
  try {
    cpSync('scripts', join(clone, 'scripts'), { recursive: true });
    const { SCHEMATHESIS_BIN: _bin, TEST_REPORT: _report, ...env } = process.env;
    const script = join(clone, 'scripts', 'schemathesis.mjs');
    const { status, stdout } = spawnSync(process.execPath, [script], { env: { ...env, PATH: '' }, encoding: 'utf8' });
    expect(stdout).toContain('Did not run:\n  schemathesis: Python is missing here, or pip cannot install it');
    expect(status).toBe(0);
  } finally {
    rmSync(clone, { recursive: true });
  }
});
