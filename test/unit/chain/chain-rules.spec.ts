import { describe, expect, it } from '@jest/globals';
import { configFrom } from '../../../src/config/index.js';
import { ChainFeesConfig } from '../../../src/config/lockstep-config.js';
import { ChainRules } from '../../../src/modules/chain/application/chain-rules.js';

const [WITH_RULES, WITHOUT_RULES, NOT_CONFIGURED] = [1, 2, 3];
const FEES = { maxFeePerGas: '7', maxPriorityFeePerGas: '3' };

const DATABASE = { url: 'postgres://nobody@localhost/none' };

const config = configFrom({
  database: DATABASE,
  confirmations: { finality: 'safe', required: 12 },
  chains: [
    {
      id: WITH_RULES,
      rpcUrls: ['http://127.0.0.1:1'],
      fees: FEES,
      transactionGasCap: 0,
      confirmations: { finality: 'depth', required: 4 },
    },
    { id: WITHOUT_RULES, rpcUrls: ['http://127.0.0.1:1'] },
  ],
});
const rules = new ChainRules(config);

describe('ChainRules', () => {
  it('answers the rules of the chain', () => {
    expect(rules.feeCaps(WITH_RULES)).toMatchObject({ maxFeePerGas: 7n, maxPriorityFeePerGas: 3n });
    expect(rules.finality(WITH_RULES)).toBe('depth');
    expect(rules.requiredConfirmations(WITH_RULES)).toBe(4);
    expect(rules.transactionGasCap(WITH_RULES)).toBe(0n);
  });

  it('answers what the profile of the chain says where its config does not', () => {
    const profile = configFrom({ database: DATABASE, chains: [{ id: 1, rpcUrls: ['http://127.0.0.1:1'] }] });
    const ofProfile = new ChainRules(profile);
    expect([ofProfile.finality(1), ofProfile.transactionGasCap(1)]).toEqual(['finalized', 1n << 24n]);
  });

  it.each([WITHOUT_RULES, NOT_CONFIGURED])('answers the defaults where chain %d has no rules', (chainId) => {
    expect(rules.feeCaps(chainId)).toEqual(new ChainFeesConfig());
    expect(rules.finality(chainId)).toBe('safe');
    expect(rules.requiredConfirmations(chainId)).toBe(12);
    expect(rules.transactionGasCap(chainId)).toBeUndefined();
  });
});
