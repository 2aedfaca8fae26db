import { beforeEach, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import type { ChainConnector, Chains, Receipt, VerifiedReceipts } from '../../../src/modules/chain/index.js';
import type { CanonicalBlocks } from '../../../src/modules/confirmations/application/canonical-blocks.js';
import { FinalityEvidence } from '../../../src/modules/confirmations/application/finality-evidence.js';
import { aHash, aReceipt, DEV_CHAIN } from '../../support/builders.js';

const CHAIN = { chainId: DEV_CHAIN } as ChainConnector;
const [FINAL, REVERTED, GONE, DENIED, UNKNOWN, UNREAD] = [1, 2, 3, 4, 5, 6].map((n) =>
  aReceipt({ txHash: aHash(n), blockNumber: n, blockHash: aHash(0x100 + n) }),
) as [Receipt, Receipt, Receipt, Receipt, Receipt, Receipt];
const ALL = [FINAL, REVERTED, GONE, DENIED, UNKNOWN, UNREAD];

let asked: unknown[][];
let evidence: FinalityEvidence;

beforeEach(() => {
  asked = [];
  const canonical = new Map<number, Hash>(ALL.map(({ blockNumber, blockHash }) => [blockNumber, blockHash]));
  canonical.set(GONE.blockNumber, aHash(0xbad));
  canonical.delete(UNKNOWN.blockNumber);
  const found = new Map(ALL.map((receipt) => [receipt.txHash, receipt]));
  found.set(REVERTED.txHash, { ...REVERTED, status: 'reverted' });
  found.delete(UNREAD.txHash);
  evidence = new FinalityEvidence(
    { get: () => CHAIN } as unknown as Chains,
    {
      execute: async (...args: unknown[]) => (asked.push(['blocks', ...args]), canonical),
      followed: (_: unknown, number: number) => ({ number, hash: aHash(0x999) }),
    } as unknown as CanonicalBlocks,
    {
      verify: async (...args: unknown[]) => (
        asked.push(['receipts', ...args]),
        { found, gone: new Set([DENIED.txHash]) }
      ),
    } as unknown as VerifiedReceipts,
  );
});

it('gives each receipt the verdict of its canonical block and of itself, read again', async () => {
  const { verdictOf, head, fresh } = await evidence.execute(DEV_CHAIN, ALL, 40);
  expect(ALL.map(verdictOf)).toEqual(['final', 'changed', 'gone', 'gone', 'open', 'open']);
  expect(head).toEqual({ number: 40, hash: aHash(0x999) });
  expect(fresh.get(REVERTED.txHash)).toMatchObject({ status: 'reverted' });
  expect(asked).toEqual([
    ['blocks', DEV_CHAIN, ALL],
    ['receipts', CHAIN, ALL],
  ]);
});
