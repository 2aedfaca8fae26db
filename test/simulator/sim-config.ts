import { configFrom, ConfigModule, type LockstepConfig } from '../../src/config/index.js';
import type { ExecutionMode } from '../../src/config/sections/work-config.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { DEV_CHAIN } from '../support/builders.js';
import { WEBHOOK_KEY } from '../support/webhook-secrets.js';
import type { Token } from '../support/container.js';
import type { Rules } from './network/rules.js';

/** Few, so that a seed sees many decisions, and reorgs that stop just short of them. */
export const REQUIRED_CONFIRMATIONS = 3;

/** Less than the nonces in flight, so that some are too high to be bumped. */
export const BUMP_DEPTH = 3;
const BUMP_AFTER_BLOCKS = 2;

/** Few, so that what is refused for ever is given up within a seed. */
export const MAX_REFUSALS = 3;

/** Milliseconds. Of the simulated time, in which two minutes go by between two blocks. */
export const SHORT_LEASE_MS = 300_000;
/** How long others leave a lease alone that ran out. */
export const SKEW_MS = 1_000;
/** Below half of a lease. */
export const RENEW_MS = 100_000;

/** By the mode of the nodes and the rules of the seed. */
const configs = new Map<string, LockstepConfig>();

export function simulatedConfig(
  url: string,
  mode: ExecutionMode,
  { finality, maxFeePerGas, maxTip }: Rules,
): LockstepConfig {
  const key = `${mode} ${finality} ${maxFeePerGas} ${maxTip}`;
  const known = configs.get(key);
  if (known) return known;
  const config = configFrom({
    database: { url },
    execution: { mode, maxInFlight: 8 },
    // One worker: lanes side by side would go another way in every replay.
    worker: { concurrency: 1 },
    ...NODES[mode],
    confirmations: { required: REQUIRED_CONFIRMATIONS, finality },
    webhooks: { encryptionKeys: [WEBHOOK_KEY.toString('base64')] },
    resubmit: { bumpAfterBlocks: BUMP_AFTER_BLOCKS, bumpDepth: BUMP_DEPTH },
    chains: [
      {
        id: DEV_CHAIN,
        rpcUrls: ['http://127.0.0.1:1'],
        fees: {
          ...(maxFeePerGas !== null && { maxFeePerGas: String(maxFeePerGas) }),
          ...(maxTip !== null && { maxPriorityFeePerGas: String(maxTip) }),
        },
        signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: 3 }],
      },
    ],
  });
  Object.assign(config.execution, { batchSize: 4 });
  Object.assign(config.resubmit, { maxRefusals: MAX_REFUSALS, maxRefusalsInDoubt: MAX_REFUSALS });
  // So that one endpoint has few places, and one host, too.
  Object.assign(config.webhooks, { concurrency: 2 });
  configs.set(key, config);
  return config;
}

/** What the two modes differ in besides the routing. */
const NODES = {
  // Ends by an action of the simulator only.
  basic: { lease: { duration: '48h', clockSkewAllowance: '0s' } },
  'worker-queue': {
    lease: { duration: `${SHORT_LEASE_MS}ms`, renewInterval: `${RENEW_MS}ms`, clockSkewAllowance: `${SKEW_MS}ms` },
    intake: { notLeader: 'forward' },
    node: { advertisedUrl: 'http://node.example', forwardSecret: 'known to all simulated nodes' },
  },
} as const satisfies Record<ExecutionMode, object>;

/** Whole, and each section by its own class, as the product provides them. */
export function configProviders(from: LockstepConfig): [Token, unknown][] {
  return (ConfigModule.register(from).providers ?? []).flatMap((provider): [Token, unknown][] =>
    typeof provider === 'object' && 'useValue' in provider && typeof provider.provide === 'function'
      ? [[provider.provide as Token, provider.useValue]]
      : [],
  );
}
