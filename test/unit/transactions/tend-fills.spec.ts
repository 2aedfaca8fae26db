import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { NonceLedger } from '../../../src/modules/signers/index.js';
import type { AttemptSigner } from '../../../src/modules/transactions/application/attempt-signer.js';
import type { BroadcastAttempts } from '../../../src/modules/transactions/application/broadcast-attempts.js';
import type { FeeRules } from '../../../src/modules/transactions/application/fee-rules.js';
import type { FinalityRule } from '../../../src/modules/transactions/application/finality-rule.js';
import { LaneMemory } from '../../../src/modules/transactions/application/lane-memory.js';
import type { Sending } from '../../../src/modules/transactions/application/sending.js';
import type { SlotInDoubt, TakenSlots } from '../../../src/modules/transactions/application/taken-slots.js';
import { TendFills } from '../../../src/modules/transactions/application/tend-fills.js';
import type { Attempt } from '../../../src/modules/transactions/domain/attempt.js';
import type { AttemptRepository } from '../../../src/modules/transactions/index.js';
import { aHash, anAttempt, aReceipt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const LEASE = { signer: aSigner(), owner: 'node', token: 1n };
const RECEIPT = aReceipt({ blockNumber: 50 });
const FINAL_UP_TO = 90;

/** The canonical block at the height of the receipt; null when it is not known. */
let there: { readonly value: string } | null;
let hasReceipt: boolean;
let attempts: Attempt[];
let sent: Sending[];
let doubts: readonly SlotInDoubt[];
let fills: TendFills;

beforeEach(() => {
  [there, hasReceipt, sent, doubts] = [null, false, [], []];
  const open = (): unknown => ({ slot: { signer: LEASE.signer, nonce: 7n }, attempts });
  const finality = { agreedHead: async () => ({ number: 100 }), heights: async () => ({ byRule: FINAL_UP_TO }) };
  const broadcast = {
    execute: async (_chain: unknown, _leases: unknown, sendings: readonly Sending[]) => void sent.push(...sendings),
  };
  fills = new TendFills(
    new UnfencedWork(),
    { takeHoles: async () => [], consume: async () => undefined } as unknown as NonceLedger,
    { openFills: async () => [open()], decide: async () => undefined } as unknown as AttemptRepository,
    {} as AttemptSigner,
    broadcast as unknown as BroadcastAttempts,
    new LaneMemory(new FakeClock()),
    {
      execute: async (_chain: unknown, asked: readonly SlotInDoubt[]) => ((doubts = asked), []),
    } as unknown as TakenSlots,
    {} as FeeRules,
    finality as unknown as FinalityRule,
    new RecordingLog(),
  );
});

async function statusesSent(...found: readonly Partial<Attempt>[]): Promise<string[]> {
  attempts = found.map((attempt) => anAttempt({ kind: 'fill', txId: null, ...attempt }));
  const chain = {
    chainId: DEV_CHAIN,
    head: async () => ({ number: 100, hash: aHash(100) }),
    receipts: async () => attempts.map(() => (hasReceipt ? { kind: 'found', receipt: RECEIPT } : { kind: 'missing' })),
    agreedBlocks: async () => [there],
  };
  await fills.execute(chain as unknown as ChainConnector, [LEASE]);
  return sent.map(({ attempt }) => attempt.status);
}

describe('a fill', () => {
  it('with a receipt is left alone, in its block or while the block there is not known', async () => {
    hasReceipt = true;
    for (const block of [null, { value: RECEIPT.blockHash }]) {
      there = block;
      expect(await statusesSent({ status: 'ACCEPTED' })).toEqual([]);
    }
  });

  it('is sent again when another block is final in the place of its receipt’s', async () => {
    [hasReceipt, there] = [true, { value: aHash(0xdead) }];
    expect(await statusesSent({ status: 'ACCEPTED' })).toEqual(['ACCEPTED']);
  });

  it('may be out when nobody wrote down what its last send was answered', async () => {
    expect(await statusesSent({ status: 'SIGNED' })).toEqual(['UNKNOWN']);
  });

  it('gives way to others when a node called its nonce used at any of its attempts, not only at the last', async () => {
    await statusesSent({ status: 'UNKNOWN', errorClass: 'nonce_too_low' }, { status: 'UNKNOWN', txHash: aHash(2) });
    expect(doubts.map(({ hashes }) => hashes)).toEqual([[aHash(1), aHash(2)]]);
  });
});
