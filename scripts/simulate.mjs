import { ensureInstalled } from './bootstrap.mjs';

await ensureInstalled();
// Node itself loads the TypeScript, the product's as the simulator's, as the build compiles it: nothing has to be built.
await import('../test/support/run-typescript.mjs');
const { main } = await import('../test/simulator/simulate.ts');
process.exit(await main(process.argv.slice(2)));
