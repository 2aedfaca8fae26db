import { ensureBuilt, ensureInstalled } from './bootstrap.mjs';

await ensureInstalled();
await ensureBuilt();
// In this very process: a signal to it, or to npm, then reaches the launcher without anybody in between.
const { main } = await import('../dist/dev/start.js');
process.exit(await main());
