import { configFrom } from '../../src/config/index.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { CheckedCustody, type CustodyTools } from '../../src/modules/signers/infrastructure/checked-custody.js';
import { realPause } from '../../src/platform/scheduling/pause.js';
import { RecordingLog } from '../unit/chain/chain-fixture.js';
import { DEV_CHAIN } from './builders.js';
import { FakeClock } from './fakes/fake-clock.js';
import { FakeMetrics } from './fakes/fake-metrics.js';

/** What a custody needs beside its config. */
export const custodyTools = (some: Partial<CustodyTools> = {}): CustodyTools => ({
  metrics: new FakeMetrics(),
  clock: new FakeClock(),
  pause: realPause,
  log: new RecordingLog(),
  ...some,
});

/** The keys of the first development accounts. */
export function devCustody(count: number): Promise<CheckedCustody> {
  const signers = [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count }];
  const chains = [{ id: DEV_CHAIN, rpcUrls: ['http://127.0.0.1:1'], signers }];
  return CheckedCustody.open(
    configFrom({ database: { url: 'postgres://nobody@localhost/none' }, chains }),
    custodyTools(),
  );
}
