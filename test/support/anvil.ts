export { type AnvilOptions, type RunningAnvil, startAnvil } from '../../src/dev/anvil.js';
export { DEV_ACCOUNTS, DEV_CHAIN_ID, DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
