import { configFrom, ConfigModule, type LockstepConfig } from '../../src/config/index.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { DEV_CHAIN } from '../support/builders.js';
import type { Token } from './container.js';

/** Few, so that a seed sees many decisions, and reorgs that stop just short of them. */
export const REQUIRED_CONFIRMATIONS = 3;

let config: LockstepConfig | null = null;

export function simulatedConfig(url: string): LockstepConfig {
  config ??= configFrom({
    database: { url },
    execution: { mode: 'basic', maxInFlight: 8, batchSize: 4 },
    // One worker: lanes side by side would go another way in every replay.
    worker: { concurrency: 1 },
    lease: { duration: '12h', clockSkewAllowance: '0s' },
    confirmations: { required: REQUIRED_CONFIRMATIONS },
    // Few, so that what is refused for ever is given up within a seed.
    resubmit: { maxRefusals: 3, maxRefusalsInDoubt: 3 },
    chains: [
      {
        id: DEV_CHAIN,
        rpcUrls: ['http://127.0.0.1:1'],
        signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: 3 }],
      },
    ],
  });
  return config;
}

/** Whole, and each section by its own class, as the product provides them. */
export function configProviders(from: LockstepConfig): [Token, unknown][] {
  return (ConfigModule.register(from).providers ?? []).flatMap((provider): [Token, unknown][] =>
    typeof provider === 'object' && 'useValue' in provider && typeof provider.provide === 'function'
      ? [[provider.provide as Token, provider.useValue]]
      : [],
  );
}
