import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import type { AttemptDraft } from '../../../src/modules/sending/application/attempt-signer.js';
import type { BroadcastAttempts } from '../../../src/modules/sending/application/broadcast-attempts.js';
import type { FeeRules } from '../../../src/modules/sending/application/fee-rules.js';
import type { FinalityRule } from '../../../src/modules/chain/application/finality-rule.js';
import {
  GAP_CHECK_INTERVAL_MS,
  LaneMemory,
} from '../../../src/modules/transactions/application/writing/lane-memory.js';
import type { Sending } from '../../../src/modules/sending/application/send.js';
import type { SlotInDoubt, ForeignNonces } from '../../../src/modules/nonces/application/foreign-nonces.js';
import { FillNonceGaps } from '../../../src/modules/nonces/application/fill-nonce-gaps.js';
import type { Attempt, AttemptFees } from '../../../src/modules/transactions/domain/attempt.js';
import type { AttemptRepository } from '../../../src/modules/transactions/index.js';
import { aHash, anAttempt, aReceipt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const LEASE = { signer: aSigner(), owner: 'node', token: 1n };
const OTHER_LEASE = { signer: aSigner(2), owner: 'node', token: 2n };
const SLOT: SlotRef = { signer: LEASE.signer, nonce: 7n };
const RECEIPT = aReceipt({ blockNumber: 50 });
const PRICE: AttemptFees = { maxFeePerGas: 900n, maxPriorityFeePerGas: 90n };

/** The canonical block at the height of the receipt; null when it is not known. */
let there: { readonly value: string } | null;
/** The attempts that have a receipt. */
let minedHashes: Set<string>;
/** Null while the endpoints agree on no head. */
let finalUpTo: number | null;
/** Slots with their attempts. */
let open: { slot: SlotRef; attempts: Attempt[] }[];
let takenNow: SlotRef[];
let price: AttemptFees | null;
let outbid: (AttemptFees | null)[];
let stored: Attempt[];
let consumed: unknown[];
let decided: unknown[];
let sent: Sending[];
let doubts: readonly SlotInDoubt[];
/** The signers whose holes were taken. */
let tended: string[];
let asked: string[];
let work: UnfencedWork;
let clock: FakeClock;
let memory: LaneMemory;
let fills: FillNonceGaps;

beforeEach(() => {
  [there, minedHashes, finalUpTo, open, takenNow, price] = [null, new Set(), 90, [], [], PRICE];
  [outbid, stored, consumed, decided, sent, doubts, tended, asked] = [[], [], [], [], [], [], [], []];
  work = new UnfencedWork();
  clock = new FakeClock();
  memory = new LaneMemory(clock);
  const finality = {
    agreedHead: async () => (finalUpTo === null ? null : { number: 100 }),
    heights: async () => ({ byRule: finalUpTo }),
  };
  fills = new FillNonceGaps(
    work,
    {
      takeGaps: async (_fence: unknown, signers: readonly { address: string }[]) => {
        tended.push(...signers.map(({ address }) => address));
        return [SLOT];
      },
      consume: async (_fence: unknown, winners: readonly unknown[]) => void consumed.push(...winners),
    } as unknown as NonceLedger,
    {
      openFills: async (signers: readonly { address: string }[]) =>
        open.filter(({ slot }) => signers.some(({ address }) => address === slot.signer.address)),
      decide: async (_fence: unknown, winners: readonly unknown[]) => void decided.push(...winners),
      insert: async (_fence: unknown, attempts: readonly Attempt[]) => void stored.push(...attempts),
    } as unknown as AttemptRepository,
    {
      sign: async (drafts: readonly AttemptDraft[]) => drafts.map((draft) => anAttempt({ ...draft, txHash: aHash(9) })),
    },
    {
      execute: async (_chain: unknown, _leases: unknown, sendings: readonly Sending[]) => void sent.push(...sendings),
    } as unknown as BroadcastAttempts,
    memory,
    {
      execute: async (_chain: unknown, slots: readonly SlotInDoubt[]) => (
        (doubts = slots),
        takenNow.map((slot) => ({ slot }))
      ),
    } as unknown as ForeignNonces,
    {
      noOp: (_chain: number, _quote: unknown, rival: AttemptFees | null) => (outbid.push(rival), price),
    } as unknown as FeeRules,
    finality as unknown as FinalityRule,
    new RecordingLog(),
  );
});

/** A look at the holes, when it is time for one again. */
async function tend(...leases: (typeof LEASE)[]): Promise<void> {
  clock.advance(GAP_CHECK_INTERVAL_MS);
  const chain = {
    chainId: DEV_CHAIN,
    head: async () => ({ number: 100, hash: aHash(100) }),
    feeQuote: async () => null,
    estimateGas: async (calls: readonly unknown[]) => calls.map(() => ({ kind: 'ok', gas: 22_000n })),
    receipts: async (hashes: readonly string[]) => {
      asked = [...hashes];
      return hashes.map((txHash) =>
        minedHashes.has(txHash) ? { kind: 'found', receipt: RECEIPT } : { kind: 'missing' },
      );
    },
    agreedBlocks: async (heights: readonly number[]) =>
      heights.map((height) => (height === RECEIPT.blockNumber ? there : null)),
  };
  await fills.execute(chain as unknown as ChainConnector, leases.length === 0 ? [LEASE] : leases);
}

async function statusesSent(...found: readonly Partial<Attempt>[]): Promise<string[]> {
  const attempts = found.map((attempt) => anAttempt({ kind: 'fill', txId: null, ...attempt }));
  open = [{ slot: SLOT, attempts }];
  await tend();
  return sent.splice(0).map(({ attempt }) => attempt.status);
}

describe('a fill', () => {
  it('with a receipt is left alone, in its block or while the block there is not known', async () => {
    minedHashes.add(aHash(1));
    for (const block of [null, { value: RECEIPT.blockHash }]) {
      there = block;
      expect(await statusesSent({ status: 'ACCEPTED' })).toEqual([]);
    }
  });

  it('is sent again when another block is final in the place of its receipt’s', async () => {
    minedHashes.add(aHash(1));
    there = { value: aHash(0xdead) };
    expect(await statusesSent({ status: 'ACCEPTED' })).toEqual(['ACCEPTED']);
    expect(consumed).toEqual([]);
  });

  it('may be out when nobody wrote down what its last send was answered', async () => {
    expect(await statusesSent({ status: 'SIGNED' })).toEqual(['UNKNOWN']);
  });

  it('gives way to others when a node called its nonce used at any of its attempts, not only at the last', async () => {
    await statusesSent({ status: 'UNKNOWN', errorClass: 'nonce_too_low' }, { status: 'UNKNOWN', txHash: aHash(2) });
    expect(doubts.map(({ hashes }) => hashes)).toEqual([[aHash(1), aHash(2)]]);
  });

  it('gives way to nobody while no node calls its nonce used', async () => {
    await statusesSent({ status: 'UNKNOWN', errorClass: 'transient' }, { status: 'ACCEPTED', txHash: aHash(2) });
    expect(doubts).toEqual([]);
  });

  it('is not sent again when somebody else has its nonce for good: the slot is used, by no transaction of ours', async () => {
    takenNow = [SLOT];
    expect(await statusesSent({ status: 'UNKNOWN', errorClass: 'nonce_too_low' })).toEqual([]);
    expect([consumed, decided]).toEqual([[{ ...SLOT, txHash: null }], [{ ...SLOT, txHash: null }]]);
  });
});

describe('the slot of a mined fill', () => {
  const mined = (): Promise<string[]> => statusesSent({ txHash: aHash(1) }, { txHash: aHash(2) });
  beforeEach(() => {
    minedHashes.add(aHash(2));
    there = { value: RECEIPT.blockHash };
  });

  it('is used by the attempt that was mined, once its block is final', async () => {
    expect(await mined()).toEqual([]);
    const winner = { ...SLOT, txHash: aHash(2) };
    expect([asked, consumed, decided]).toEqual([[aHash(1), aHash(2)], [winner], [winner]]);
    // Once for the holes, once for what was mined: each under the lease of the signer.
    expect(work.tokens).toEqual([[1n], [1n]]);
  });

  it('is used from the very block on that is final', async () => {
    finalUpTo = RECEIPT.blockNumber - 1;
    await mined();
    expect(consumed).toEqual([]);
    finalUpTo = RECEIPT.blockNumber;
    await mined();
    expect(consumed).toHaveLength(1);
  });

  it('waits while the endpoints agree on no head, and it is not sent again', async () => {
    finalUpTo = null;
    expect([await mined(), consumed]).toEqual([[], []]);
  });
});

describe('a hole', () => {
  beforeEach(() => {
    open = [{ slot: SLOT, attempts: [] }];
  });

  it('is filled by a no-op that is stored before it is sent', async () => {
    await tend();
    const fill = { nonce: 7n, kind: 'fill', txId: null, to: LEASE.signer.address, gasLimit: 22_000n, fees: PRICE };
    expect(stored).toMatchObject([fill]);
    expect(sent).toEqual([{ tx: null, attempt: stored[0] }]);
    expect(work.tokens).toEqual([[1n], [1n]]);
  });

  it('waits while its price is above the caps of the chain', async () => {
    price = null;
    await tend();
    expect([stored, sent]).toEqual([[], []]);
  });

  it('is looked for only where the lane may have some', async () => {
    open = [];
    await tend(LEASE, OTHER_LEASE);
    await tend(LEASE, OTHER_LEASE);
    expect(tended).toEqual([LEASE.signer.address, OTHER_LEASE.signer.address]);
    memory.gapOpened(OTHER_LEASE.signer);
    await tend(LEASE, OTHER_LEASE);
    expect(tended.slice(2)).toEqual([OTHER_LEASE.signer.address]);
  });

  it('is looked after again as long as it is open', async () => {
    await tend(LEASE, OTHER_LEASE);
    clock.advance(GAP_CHECK_INTERVAL_MS);
    expect([LEASE, OTHER_LEASE].map((lease) => memory.mayHaveGaps(lease))).toEqual([true, false]);
  });
});

describe('a fill that was refused', () => {
  const refused = (count: number, errorClass: Attempt['errorClass'] = 'oversized_data'): Partial<Attempt>[] =>
    Array.from({ length: count }, (_, i) => ({ txHash: aHash(100 + i), status: 'REJECTED', errorClass }) as const);
  const hashes = async (...attempts: Partial<Attempt>[]): Promise<bigint[]> => {
    open = [{ slot: SLOT, attempts: attempts.map((attempt) => anAttempt({ kind: 'fill', txId: null, ...attempt })) }];
    await tend();
    return sent.splice(0).map(({ attempt }) => BigInt(attempt.txHash));
  };

  it('for what it is, or for its price, is signed anew', async () => {
    for (const errorClass of ['oversized_data', 'underpriced'] as const)
      expect(await hashes(...refused(1, errorClass))).toEqual([9n]);
  });

  it('for another reason is sent again as it is', async () => {
    expect(await hashes(...refused(1, 'txpool_full'))).toEqual([100n]);
  });

  it('outbids what may be out of it', async () => {
    const fees = { maxFeePerGas: 500n, maxPriorityFeePerGas: 50n };
    await hashes({ status: 'UNKNOWN', fees }, ...refused(1));
    expect(outbid).toEqual([fees]);
  });

  it('is signed sixteen times at most', async () => {
    expect(await hashes(...refused(15))).toEqual([9n]);
    expect(await hashes(...refused(16))).toEqual([115n]);
  });
});
