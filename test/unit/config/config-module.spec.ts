import { describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import {
  configFrom,
  ConfigModule,
  LeaseConfig,
  LockstepConfig,
  MetricsConfig,
  NonceConfig,
} from '../../../src/config/index.js';

describe('ConfigModule', () => {
  it('provides the whole and each section under its own class', async () => {
    const config = configFrom({ chains: [{ id: 1, rpcUrls: ['http://a'] }] }, { DATABASE_URL: 'postgres://db' });
    const app = await Test.createTestingModule({ imports: [ConfigModule.register(config)] }).compile();
    expect(app.get(LockstepConfig)).toBe(config);
    expect(app.get(LeaseConfig)).toBe(config.lease);
    expect(app.get(NonceConfig)).toBe(config.nonce);
    expect(app.get(MetricsConfig)).toBe(config.metrics);
  });
});
