import { keccak256, type TransactionLike } from 'ethers';
import { configFrom } from '../../src/config/index.js';
import { DEV_CHAIN_ID } from '../../src/dev/dev-accounts.js';
import { parseAddress, parseHash, parseHex } from '../../src/kernel/hex.js';
import type { BroadcastOutcome } from '../../src/modules/chain/index.js';
import { ConfiguredChains } from '../../src/modules/chain/infrastructure/configured-chains.js';
import { RecordingLog, ShiftedClock } from '../unit/chain/chain-fixture.js';
import { devWallet } from './dev-wallets.js';
import { FakeMetrics } from './fakes/fake-metrics.js';

export const GWEI = 10n ** 9n;
const SINK = '0x00000000000000000000000000000000000000bb';

/** Sends transactions of the dev accounts to a node as the product does, and says what the product makes of the answer. */
export class GethWire {
  private readonly chains: ConfiguredChains;

  constructor(url: string) {
    this.chains = new ConfiguredChains(
      configFrom({
        database: { url: 'postgres://unused' },
        chains: [{ id: DEV_CHAIN_ID, rpcUrls: [url], signers: [] }],
      }),
      new FakeMetrics(),
      new ShiftedClock(),
      new RecordingLog(),
    );
  }

  /** @param tx what differs from 1 wei at nonce 0, for a tip of 1 gwei and at most 10 gwei */
  async send(account: number, tx: TransactionLike): Promise<BroadcastOutcome | undefined> {
    const fees = { maxFeePerGas: 10n * GWEI, maxPriorityFeePerGas: GWEI };
    const base = { chainId: DEV_CHAIN_ID, type: 2, nonce: 0, to: SINK, value: 1n, gasLimit: 100_000n, ...fees };
    const raw = await devWallet(account).signTransaction({ ...base, ...tx });
    const bytes = { raw: parseHex(raw), hash: parseHash(keccak256(raw)) };
    return (await this.chains.get(DEV_CHAIN_ID).broadcast([bytes]))[0];
  }

  /** The next nonce after the mined ones. */
  async minedOf(account: number): Promise<bigint | undefined> {
    const address = parseAddress(devWallet(account).address);
    return (await this.chains.get(DEV_CHAIN_ID).transactionCounts([address], 'latest'))[0];
  }

  close(): Promise<void> {
    return this.chains.close();
  }
}
