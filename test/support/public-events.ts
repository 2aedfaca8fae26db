import { DEFAULT_ACCOUNT } from '../../src/kernel/caller.js';
import type { PublicEvent } from '../../src/modules/events/index.js';
import { aSigner, DEV_CHAIN } from './builders.js';

/** An event of the log as readers get it: the row of that number, of one signer. */
export function aPublicEvent(row: number, overrides: Partial<PublicEvent> = {}): PublicEvent {
  return {
    position: { xid: 7n, seq: BigInt(row), part: 0 },
    type: 'tx.submitted',
    time: new Date('2025-01-01T00:00:00Z'),
    chainId: DEV_CHAIN,
    signer: aSigner().address,
    txId: null,
    callback: null,
    account: DEFAULT_ACCOUNT,
    data: { row },
    ...overrides,
  };
}
