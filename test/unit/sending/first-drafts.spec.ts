import { beforeEach, describe, expect, it } from '@jest/globals';
import type { FeeCaps, FeeQuote } from '../../../src/modules/chain/index.js';
import type { Attempt, AttemptFees, AttemptRepository } from '../../../src/modules/ledger/index.js';
import { NO_FEES } from '../../../src/modules/ledger/domain/tx-request.js';
import type { AttemptDraft } from '../../../src/modules/sending/application/attempt-signer.js';
import { FeeRules } from '../../../src/modules/sending/application/fee-rules.js';
import { FirstDrafts } from '../../../src/modules/sending/application/first-drafts.js';
import { highestFees } from '../../../src/modules/sending/domain/fee-bump.js';
import { slotKey } from '../../../src/modules/signers/index.js';
import { aManagedTx, anAttempt, aRequest, aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const SIGNER = aSigner();
const FEES = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
const CAPS_OF_SIGNER = { maxFeePerGas: 2n, maxPriorityFeePerGas: 2n, maxFeePerBlobGas: 2n };
const CAPS_OF_PAYLOAD = { ...CAPS_OF_SIGNER, maxFeePerGas: 1n };
const QUOTE = { hasBaseFee: true, blockNumber: 100 } as FeeQuote;
const anOlder = (overrides: Partial<Attempt> = {}): Attempt =>
  anAttempt({ signer: SIGNER, nonce: 5n, status: 'LOST', ...overrides });

let priced: [FeeCaps, unknown][];
/** What was signed for the slots before, and how often that was read. */
let before: Attempt[];
let reads: number;
/** The prices that fills were to be above, and the one that they get. */
let outbid: (AttemptFees | null)[];
let price: AttemptFees | null;
let reservedSeen: unknown[];

beforeEach(() => {
  [priced, before, reads, outbid, reservedSeen] = [[], [], 0, [], []];
  price = { maxFeePerGas: 900n, maxPriorityFeePerGas: 90n };
});

async function draftOf(kind: 'payload' | 'fill', reserved = new Map<string, bigint>()): Promise<AttemptDraft> {
  const drafts = new FirstDrafts(
    fakeOf(FeeRules, {
      capsOf: (payload) => (reservedSeen.push(payload.reserved), CAPS_OF_PAYLOAD),
      capsFor: () => CAPS_OF_SIGNER,
      clamped: (caps, { request }) => (priced.push([caps, request]), FEES),
      noOp: (_signer, _quote, rivals) => (outbid.push(highestFees(rivals)), price),
    }),
    { ofSlots: async () => ((reads += 1), before) } as unknown as AttemptRepository,
  );
  const tx = aManagedTx({ kind, state: 'ALLOCATED', nonce: 5n, gasLimit: 21_000n }).build();
  const item = { tx, request: aRequest({ speed: 'fast' }) };
  return (await drafts.of(QUOTE, [item], reserved))(item);
}

describe('the first draft of a payload', () => {
  it('is within its own caps, and within what was reserved for it, and costs no statement', async () => {
    const reserved = new Map([[slotKey({ signer: SIGNER, nonce: 5n }), 77n]]);
    expect(await draftOf('payload', reserved)).toMatchObject({ kind: 'payload', nonce: 5n, gasLimit: 21_000n });
    expect([priced[0]?.[0], reservedSeen, reads]).toEqual([CAPS_OF_PAYLOAD, [77n], 0]);
  });
});

describe('the first draft of a fill', () => {
  it('is a no-op', async () => {
    const draft = await draftOf('fill');
    expect(draft).toMatchObject({ kind: 'fill', type: 2, to: SIGNER.address, value: 0n, nonce: 5n, gasLimit: 21_000n });
    expect(draft.blobHashes).toBeUndefined();
  });

  it('is priced above a payload that had its nonce: pools that have it would refuse the fill, and it would be executed twice', async () => {
    const dear = anOlder({ fees: { maxFeePerGas: 800n, maxPriorityFeePerGas: 80n } });
    const cheap = anOlder({ fees: { maxFeePerGas: 8n, maxPriorityFeePerGas: 1n } });
    before = [cheap, dear];
    await draftOf('fill');
    expect(outbid).toEqual([dear.fees]);
    expect(priced).toMatchObject([[CAPS_OF_SIGNER, { speed: 'fast', fees: { maxFeePerGas: 900n } }]]);
  });

  it.each<[string, Attempt[]]>([
    ['nothing was sent with its nonce', []],
    ['every node refused what was', [anOlder({ status: 'REJECTED' })]],
    ['only no-ops were', [anOlder({ kind: 'fill' })]],
    ['only another nonce had a payload', [anOlder({ nonce: 6n })]],
  ])('is at the price of the market where %s', async (_what, attempts) => {
    before = attempts;
    await draftOf('fill');
    expect(outbid).toEqual([]);
    expect(priced).toMatchObject([[CAPS_OF_SIGNER, { fees: NO_FEES }]]);
  });

  it('is at the price of the market where the caps of the chain allow no other', async () => {
    [before, price] = [[anOlder()], null];
    await draftOf('fill');
    expect(priced).toMatchObject([[CAPS_OF_SIGNER, { fees: NO_FEES }]]);
  });

  it('has one price where it has to outbid one: the cap of tips is no cap of that', async () => {
    [before, price] = [[anOlder({ type: 0 })], { maxFeePerGas: 9n, maxPriorityFeePerGas: 9n }];
    expect(await draftOf('fill')).toMatchObject({ kind: 'fill', type: 0 });
    expect(priced).toMatchObject([[CAPS_OF_SIGNER, { fees: { gasPrice: 9n } }]]);
  });

  it('has a blob where it has to outbid blobs', async () => {
    [before, price] = [[anOlder({ type: 3 })], { maxFeePerGas: 9n, maxPriorityFeePerGas: 1n, maxFeePerBlobGas: 4n }];
    expect(await draftOf('fill')).toMatchObject({ kind: 'fill', type: 3, blobHashes: [expect.any(String)] });
    expect(priced).toMatchObject([
      [CAPS_OF_SIGNER, { fees: { maxFeePerBlobGas: 4n }, payload: { blobHashes: expect.any(Array) } }],
    ]);
  });
});
