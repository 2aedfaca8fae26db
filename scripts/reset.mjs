import { ensureBuilt, ensureInstalled } from './bootstrap.mjs';

await ensureInstalled();
await ensureBuilt();
const { main } = await import('../dist/dev/reset.js');
process.exit(await main());
