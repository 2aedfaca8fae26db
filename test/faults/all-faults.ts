import type { Fault } from './fault.js';
import { ADAPTERS } from './lists/adapters.js';
import { ATTEMPTS } from './lists/attempts.js';
import { AUTHORIZATIONS } from './lists/authorizations.js';
import { BLOBS } from './lists/blobs.js';
import { BROKER } from './lists/broker.js';
import { CHAINS } from './lists/chains.js';
import { COMMANDS } from './lists/commands.js';
import { FUNDS } from './lists/funds.js';
import { LEASES } from './lists/leases.js';
import { LOST_COMMITS } from './lists/lost-commits.js';
import { MANAGED_TXS } from './lists/managed-txs.js';
import { NONCES } from './lists/nonces.js';
import { PLATFORM } from './lists/platform.js';
import { RETENTION } from './lists/retention.js';
import { VIEWS } from './lists/views.js';
import { WEBHOOKS } from './lists/webhooks.js';

export const ALL_FAULTS: readonly Fault[] = [
  ...MANAGED_TXS,
  ...FUNDS,
  ...BLOBS,
  ...ATTEMPTS,
  ...NONCES,
  ...COMMANDS,
  ...AUTHORIZATIONS,
  ...LEASES,
  ...LOST_COMMITS,
  ...BROKER,
  ...CHAINS,
  ...RETENTION,
  ...VIEWS,
  ...WEBHOOKS,
  ...PLATFORM,
  ...ADAPTERS,
];
