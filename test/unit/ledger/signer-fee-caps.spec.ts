import { describe, expect, it } from '@jest/globals';
import { configFrom } from '../../../src/config/index.js';
import { ChainRules } from '../../../src/modules/chain/application/chain-rules.js';
import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { CheckedCustody } from '../../../src/modules/signers/infrastructure/checked-custody.js';
import { SignerFeeCaps } from '../../../src/modules/ledger/application/signer-fee-caps.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { custodyTools } from '../../support/dev-custody.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { MemoryPolicies } from '../../support/fakes/memory-policies.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const MNEMONIC = {
  type: 'mnemonic',
  phrase: 'test test test test test test test test test test test junk',
  count: 2,
};
const OF_CHAIN = { maxFeePerGas: 400n, maxPriorityFeePerGas: 50n, maxFeePerBlobGas: 5_000_000_000_000n };

async function capsOf(fees: Record<string, string> | undefined, policy?: Record<string, unknown>) {
  const config = configFrom({
    database: { url: 'postgres://nobody@localhost/none' },
    chains: [
      {
        id: DEV_CHAIN,
        rpcUrls: ['http://127.0.0.1:1'],
        fees: { maxFeePerGas: '400', maxPriorityFeePerGas: '50' },
        signers: [{ ...MNEMONIC, ...(fees && { fees }), ...(policy && { policy }) }],
      },
    ],
  });
  const custody = await CheckedCustody.open(config, custodyTools());
  const policies = new SignerPolicies(
    custody,
    new MemoryPolicies(),
    new FakeMetrics(),
    new RecordingLog(),
    new FakeClock(),
  );
  const caps = new SignerFeeCaps(new ChainRules(config), policies, custody);
  return { caps, signers: custody.signers().map(({ signer }) => signer) };
}

describe('the fee caps of a signer', () => {
  it('are those of its chain where it has none of its own', async () => {
    const { caps, signers } = await capsOf(undefined);
    for (const signer of [...signers, aSigner(9)]) expect(caps.of(signer)).toEqual(OF_CHAIN);
  });

  it('are its own where they are lower, for every account of its mnemonic', async () => {
    const { caps, signers } = await capsOf({ maxFeePerGas: '300', maxFeePerBlobGas: '7' });
    expect(signers).toHaveLength(2);
    for (const signer of signers)
      expect(caps.of(signer)).toEqual({ ...OF_CHAIN, maxFeePerGas: 300n, maxFeePerBlobGas: 7n });
    expect(caps.of(aSigner(9))).toEqual(OF_CHAIN);
  });

  it('are those of its chain where its own are higher', async () => {
    const { caps, signers } = await capsOf({ maxFeePerGas: '900', maxPriorityFeePerGas: '900' });
    for (const signer of signers) expect(caps.of(signer)).toEqual(OF_CHAIN);
  });
});

describe('the fee caps of a payload', () => {
  const TX = { gas: 100n, blobs: 0n, maxFeePerBlobGas: null };

  it('are lower where its policy allows less for all its gas, and for nothing that has no client', async () => {
    const { caps, signers } = await capsOf(undefined, { maxFee: '30099' });
    for (const signer of signers) {
      expect(caps.ofPayload(signer, TX)).toEqual({ ...OF_CHAIN, maxFeePerGas: 300n });
      expect(caps.ofPayload(signer, { ...TX, gas: 50n })).toEqual(OF_CHAIN);
      expect(caps.of(signer)).toEqual(OF_CHAIN);
    }
  });

  it('leave to the gas what its blobs can cost less, and nothing when they cost more', async () => {
    const { caps, signers } = await capsOf({ maxFeePerBlobGas: '1' }, { maxFee: '131172' });
    const [signer = aSigner()] = signers;
    expect(caps.ofPayload(signer, { ...TX, gas: 10n, blobs: 1n })).toMatchObject({ maxFeePerGas: 10n });
    expect(caps.ofPayload(signer, { ...TX, gas: 10n, blobs: 2n })).toMatchObject({ maxFeePerGas: 0n });
  });

  it('leave to the gas what its blobs cannot cost, because its client pays less for them; the caps of blobs are as low then', async () => {
    const { caps, signers } = await capsOf({ maxFeePerBlobGas: '100' }, { maxFee: '131172' });
    const [signer = aSigner()] = signers;
    const withBlob = { ...TX, gas: 10n, blobs: 1n };
    expect(caps.ofPayload(signer, withBlob)).toMatchObject({ maxFeePerGas: 0n, maxFeePerBlobGas: 100n });
    expect(caps.ofPayload(signer, { ...withBlob, maxFeePerBlobGas: 1n })).toMatchObject({
      maxFeePerGas: 10n,
      maxFeePerBlobGas: 1n,
    });
  });

  it('keep to what is reserved for it', async () => {
    const { caps, signers } = await capsOf(undefined, { maxFee: '30000' });
    const [signer = aSigner()] = signers;
    expect(caps.ofPayload(signer, TX, 20_000n)).toMatchObject({ maxFeePerGas: 200n });
    expect(caps.ofPayload(signer, TX, 40_000n)).toMatchObject({ maxFeePerGas: 300n });
    expect(caps.ofPayload(aSigner(9), TX, 20_000n)).toMatchObject({ maxFeePerGas: 200n });
    expect(caps.ofPayload(aSigner(9), TX)).toEqual(OF_CHAIN);
  });

  it('are not changed by a policy that only reports', async () => {
    const { caps, signers } = await capsOf(undefined, { maxFee: '30000', dryRun: true });
    for (const signer of signers) expect(caps.ofPayload(signer, TX)).toEqual(OF_CHAIN);
  });
});
