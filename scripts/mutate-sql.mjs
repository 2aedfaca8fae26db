import { ensureInstalled } from './bootstrap.mjs';

await ensureInstalled();
// Node itself loads the TypeScript, as for the simulator: nothing has to be built.
await import('../test/support/run-typescript.mjs');
const { main } = await import('../test/faults/mutate.ts');
process.exit(await main(process.argv.slice(2)));
