import { ensureBuilt, ensureInstalled, ROOT } from './bootstrap.mjs';

// The service is started as `node dist/main.js`, from here.
process.chdir(ROOT);
await ensureInstalled();
await ensureBuilt();
// Node itself loads the TypeScript of the benchmark; what it measures is the build.
await import('../test/support/run-typescript.mjs');
const { main } = await import('../bench/bench.ts');
process.exit(await main(process.argv.slice(2)));
