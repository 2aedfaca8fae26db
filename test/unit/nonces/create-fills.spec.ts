import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainConnector, GasEstimate } from '../../../src/modules/chain/index.js';
import { CreateFills, type FreeSlot } from '../../../src/modules/nonces/application/fill-nonce-gaps.js';
import type { FeeRules } from '../../../src/modules/sending/index.js';
import { type Attempt, type AttemptFees, type AttemptRepository, NewFills } from '../../../src/modules/ledger/index.js';
import { aManagedTx, anAttempt, aSigner } from '../../support/builders.js';
import { gasRules } from '../../support/gas-rules.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { NO_FEES } from '../../../src/modules/ledger/domain/tx-request.js';
import { highestFees } from '../../../src/modules/sending/domain/fee-bump.js';

const LEASES = [1, 2].map((n) => ({ signer: aSigner(n), owner: 'node', token: BigInt(n) }));
const SLOTS = [
  { signer: aSigner(1), nonce: 7n },
  { signer: aSigner(2), nonce: 3n },
];
const PRICE: AttemptFees = { maxFeePerGas: 900n, maxPriorityFeePerGas: 90n };

let estimates: GasEstimate[];
/** What was signed for the slots before. */
let before: Attempt[];
/** The prices that fills were to be above, and the one that they get. */
let outbid: (AttemptFees | null)[];
let price: AttemptFees | null;
let asked: unknown[];
let writes: RecordedWrites;
let log: RecordingLog;
let create: CreateFills;

beforeEach(() => {
  estimates = [22_000n, 30_000n].map((gas) => ({ kind: 'ok', gas }));
  [asked, writes, log] = [[], new RecordedWrites(), new RecordingLog()];
  [before, outbid, price] = [[], [], PRICE];
  let made = 0;
  create = new CreateFills(
    new NewFills({ next: () => `fill-${(made += 1)}` }),
    { ofSlots: async () => before } as unknown as AttemptRepository,
    {
      noOp: (_signer: unknown, _quote: unknown, rivals: readonly Attempt[]) => (
        outbid.push(highestFees(rivals)),
        price
      ),
    } as unknown as FeeRules,
    gasRules(),
    writes.asDoor(),
    log,
  );
});

const fill = (slots: readonly FreeSlot[] = SLOTS) => {
  const chain = {
    feeQuote: async () => ({ blockNumber: 100 }),
    estimateGas: async (calls: readonly unknown[]) => (asked.push(...calls), estimates),
  };
  return create.execute(chain as unknown as ChainConnector, LEASES, slots);
};

describe('a fill', () => {
  it('is written with its slot in one commit, under the leases of the slots', async () => {
    const made = await fill();
    expect(writes.written).toMatchObject([{ operation: 'fill', tokens: [1n, 2n] }]);
    expect(writes.fills).toEqual(made.map(({ tx }) => tx));
    expect(writes.slots('filled')).toEqual([
      { ...SLOTS[0], txId: 'fill-1' },
      { ...SLOTS[1], txId: 'fill-2' },
    ]);
    expect(made.map(({ tx }) => [tx.kind, tx.state, tx.nonce])).toEqual([
      ['fill', 'ALLOCATED', 7n],
      ['fill', 'ALLOCATED', 3n],
    ]);
  });

  it('takes the slot of a tx that left its nonce free, and competes with it: that one stays ended', async () => {
    const [first, second] = [aManagedTx({ txId: 'failed' }).build(), SLOTS[1]];
    const slots = [{ signer: aSigner(1), nonce: 7n, leftBy: first }, ...(second ? [second] : [])];
    const made = await fill(slots);
    expect(made.map(({ tx }) => tx.progress.replaces)).toEqual(['failed', null]);
    expect([first.progress.replacedBy, writes.txs]).toEqual(['fill-1', [first]]);
    expect(writes.slots('reopened')).toEqual([{ signer: aSigner(1), nonce: 7n, holder: 'fill-1' }]);
    expect(writes.slots('filled')).toEqual([{ ...second, txId: 'fill-2' }]);
  });

  it('is under the lease of its own signer only', async () => {
    await fill(SLOTS.slice(1));
    expect(writes.written).toMatchObject([{ tokens: [2n] }]);
  });

  it('has the gas that the chain asks for a transfer of nothing to its own account, with a margin', async () => {
    const made = await fill();
    expect(asked).toMatchObject(
      SLOTS.map(({ signer: { address } }) => ({ from: address, to: address, value: 0n, data: '0x' })),
    );
    expect(made.map(({ tx }) => tx.progress.gasLimit)).toEqual([27_500n, 37_500n]);
  });

  it('has the gas of a plain transfer where the chain gives no estimate', async () => {
    estimates = SLOTS.map(() => ({ kind: 'unavailable', message: 'busy' }));
    expect((await fill()).map(({ tx }) => tx.progress.gasLimit)).toEqual([21_000n, 21_000n]);
  });

  it('does not forget what was sent with its nonce before: after a reorg that may be mined again', async () => {
    await fill();
    expect(writes.written.map(({ changes }) => changes.attempts?.reopened)).toEqual([SLOTS]);
  });

  it('is announced in the log, for it costs gas', async () => {
    await fill(SLOTS.slice(1));
    expect(log.lines).toEqual([
      {
        event: 'fill created for nonce gap',
        fields: { signer: `31337:${aSigner(2).address}`, nonce: 3n, txId: 'fill-1' },
      },
    ]);
  });

  it('that could not be written is neither handed on nor announced', async () => {
    writes.onWrite = () => {
      throw new Error('taken meanwhile');
    };
    await expect(fill()).rejects.toThrow('taken meanwhile');
    expect(log.lines).toEqual([]);
  });
});

describe('the price of a fill', () => {
  const [SLOT] = SLOTS;
  const anOlder = (overrides: Partial<Attempt> = {}): Attempt => anAttempt({ ...SLOT, status: 'LOST', ...overrides });
  const feesAfter = async (...attempts: readonly Attempt[]) => {
    before = [...attempts];
    return (await fill()).map(({ request }) => request.fees);
  };

  it('is above that of a payload which had its nonce, and which a reorg would let be executed twice', async () => {
    const dear = anOlder({ fees: { maxFeePerGas: 800n, maxPriorityFeePerGas: 80n } });
    const cheap = anOlder({ fees: { maxFeePerGas: 8n, maxPriorityFeePerGas: 1n } });
    expect(await feesAfter(cheap, dear)).toEqual([{ ...NO_FEES, ...PRICE }, NO_FEES]);
    expect(outbid).toEqual([dear.fees]);
  });

  it.each<[string, Attempt[]]>([
    ['nothing was sent with its nonce', []],
    ['every node refused what was', [anOlder({ status: 'REJECTED' })]],
    ['only no-ops were', [anOlder({ kind: 'fill' })]],
  ])('is that of the market where %s', async (_what, attempts) => {
    expect(await feesAfter(...attempts)).toEqual([NO_FEES, NO_FEES]);
    expect(outbid).toEqual([]);
  });

  it('is that of the market where the caps of the chain allow no other', async () => {
    price = null;
    expect(await feesAfter(anOlder())).toEqual([NO_FEES, NO_FEES]);
  });
});
