import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { ClientLab } from '../support/client-lab.js';

const STRICT = [
  '--ignoreConfig',
  '--strict',
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--module',
  'nodenext',
];

let lab: ClientLab;

beforeAll(async () => {
  lab = await ClientLab.start();
});
afterAll(() => lab.stop());

it('a TypeScript client that is made from the document does all that a team needs', async () => {
  const bin = (name: string): string => join(lab.folder, 'node_modules', '.bin', name);
  symlinkSync(resolve('node_modules'), join(lab.folder, 'node_modules'));
  writeFileSync(join(lab.folder, 'package.json'), '{"type":"module"}');
  copyFileSync('test/clients/typescript.ts', join(lab.folder, 'client.ts'));
  await lab.run(bin('openapi-typescript'), [lab.documentUrl, '-o', 'api.ts']);
  await lab.run(bin('tsc'), [...STRICT, '--types', 'node', '--target', 'es2023', 'client.ts']);
  await lab.expectAllOf(process.execPath, 'client.js');
});
