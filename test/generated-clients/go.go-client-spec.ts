import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { ClientLab } from '../support/client-lab.js';

const GENERATOR = process.env['OAPI_CODEGEN_BIN'] ?? '';

let lab: ClientLab;

beforeAll(async () => {
  lab = await ClientLab.start();
});
afterAll(() => lab.stop());

it('a Go client that oapi-codegen makes from the document does all that a team needs', async () => {
  cpSync('test/clients/go', lab.folder, { recursive: true });
  mkdirSync(join(lab.folder, 'lockstep'));
  const made = ['-generate', 'types,client', '-package', 'lockstep', '-o', 'lockstep/lockstep.go'];
  await lab.run(GENERATOR, [...made, lab.documentUrl]);
  await lab.run('go', ['build', '-o', 'client', '.']);
  await lab.expectAllOf(join(lab.folder, 'client'));
});
