import { ensureBuilt, ensureInstalled, ROOT } from './bootstrap.mjs';

// The service is started as `node dist/main.js`, from here.
process.chdir(ROOT);
await ensureInstalled();
await ensureBuilt();
await import('../test/support/run-typescript.mjs');
const { main } = await import('../bench/strange-requests.ts');
process.exit(await main(process.argv.slice(2)));
