import { ensureBuilt, ensureInstalled } from './bootstrap.mjs';

await ensureInstalled();
await ensureBuilt();
// In this very process, as package.json starts it with `exec`: npm passes SIGTERM to its child only, and a shell or a
// second Node in between would end without passing it on, and npm with it, before everything is stopped.
const { main } = await import('../dist/dev/start.js');
process.exit(await main());
