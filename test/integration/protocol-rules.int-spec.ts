import { afterEach, describe, expect, it } from '@jest/globals';
import { configFrom } from '../../src/config/index.js';
import { ProtocolRules } from '../../src/modules/chain/index.js';
import { ConfiguredChains } from '../../src/modules/chain/infrastructure/configured-chains.js';
import { RecordingLog } from '../unit/chain/chain-fixture.js';
import { realPause } from '../../src/platform/scheduling/pause.js';
import { startAnvil, type RunningAnvil } from '../support/anvil.js';
import { DEV_CHAIN, aSigner } from '../support/builders.js';
import { FakeClock } from '../support/fakes/fake-clock.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';

/* What is learnt of real nodes: on chains of several forks, and of one that allows larger contracts. */

let anvil: RunningAnvil | null = null;
let chains: ConfiguredChains | null = null;

afterEach(async () => {
  await chains?.close();
  await anvil?.stop();
  [anvil, chains] = [null, null];
});

async function learnt(...extraArgs: string[]): Promise<[bigint | null, boolean | null]> {
  anvil = await startAnvil({ extraArgs });
  chains = chainsAt(anvil.url);
  const rules = new ProtocolRules(chains, new FakeClock(), { pause: realPause });
  return [await rules.leastGasOfByte(aSigner()), await rules.limitsInitCode(aSigner())];
}

function chainsAt(url: string): ConfiguredChains {
  const config = configFrom({
    database: { url: 'postgres://nobody@localhost/none' },
    chains: [{ id: DEV_CHAIN, rpcUrls: [url] }],
  });
  return new ConfiguredChains(config, new FakeMetrics(), new FakeClock(), new RecordingLog());
}

describe('a node of a chain', () => {
  it('with EIP-7623 and EIP-3860 tells both (Osaka)', async () => {
    expect(await learnt('--hardfork', 'osaka')).toEqual([40n, true]);
  });

  it('without EIP-7623 tells 16 for each byte (Cancun)', async () => {
    expect(await learnt('--hardfork', 'cancun')).toEqual([16n, true]);
  });

  it('with larger contracts tells that its init code does not end at 49,152 bytes', async () => {
    expect(await learnt('--hardfork', 'osaka', '--disable-code-size-limit')).toEqual([40n, false]);
  });

  it('that is away tells nothing', async () => {
    chains = chainsAt('http://127.0.0.1:1');
    const rules = new ProtocolRules(chains, new FakeClock(), { pause: realPause });
    expect([await rules.leastGasOfByte(aSigner()), await rules.limitsInitCode(aSigner())]).toEqual([null, null]);
  });
});
