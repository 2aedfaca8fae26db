import { parseHex } from '../../src/kernel/hex.js';
import type { SentTransaction } from '../../src/modules/chain/index.js';
import type { SignerOutlook } from '../../src/modules/ledger/domain/lost-commits.repository.js';
import { Findings } from '../../src/modules/lost-commits/application/findings.js';
import { aHash, aSigner } from './builders.js';

/** A transaction that creates a contract; its hash is that of its nonce. */
export function aSentTransaction(overrides: Partial<SentTransaction> = {}): SentTransaction {
  return {
    account: aSigner().address,
    nonce: 4n,
    hash: aHash(overrides.nonce ?? 4n),
    raw: parseHex('0x02'),
    to: null,
    value: 0n,
    data: parseHex('0x'),
    accessList: [],
    type: 2,
    gasLimit: 21_000n,
    maxFeePerGas: 2n,
    maxPriorityFeePerGas: 1n,
    ...overrides,
  };
}

export function anOutlook(overrides: Partial<SignerOutlook> = {}): SignerOutlook {
  return {
    signer: aSigner(),
    cursor: 3n,
    open: [],
    inFlightFrom: null,
    known: true,
    suspect: false,
    epoch: 1,
    ...overrides,
  };
}

/** Nothing but these transactions is out; pools may hide some below `hiddenBelow`. */
export function someFindings(
  outlook: SignerOutlook,
  sent: readonly SentTransaction[] = [],
  hiddenBelow = 0n,
): Findings {
  return new Findings(outlook, outlook.cursor, sent, hiddenBelow, hiddenBelow === 0n, false);
}
