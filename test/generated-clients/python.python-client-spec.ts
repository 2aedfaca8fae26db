import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { ClientLab } from '../support/client-lab.js';

const GENERATOR = process.env['OPENAPI_PYTHON_CLIENT_BIN'] ?? '';
const BIN = path.dirname(GENERATOR);
/** It formats what it makes with the ruff beside it. */
const PATH = [BIN, process.env['PATH']].join(path.delimiter);

let lab: ClientLab;

beforeAll(async () => {
  lab = await ClientLab.start();
});
afterAll(() => lab.stop());

it('a Python client that openapi-python-client makes from the document does all that a team needs', async () => {
  copyFileSync('test/clients/python/client.py', path.join(lab.folder, 'client.py'));
  const output = ['--meta', 'none', '--output-path', 'lockstep_client'];
  await lab.run(GENERATOR, ['generate', '--url', lab.documentUrl, ...output, '--fail-on-warning'], { PATH });
  // What the generator makes is its own business.
  await lab.run(path.join(BIN, 'mypy'), ['--strict', '--follow-imports', 'silent', 'client.py']);
  await lab.expectAllOf(path.join(BIN, 'python'), 'client.py');
});
