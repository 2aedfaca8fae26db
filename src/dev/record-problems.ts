import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { problemTable } from './problems/table.js';

/** The first part of `npm run openapi:dump`. A test compares the file with the code. */
const file = fileURLToPath(new URL('../../src/thrown-problems.ts', import.meta.url));
writeFileSync(file, problemTable());
process.stdout.write(`wrote ${file}\n`);
