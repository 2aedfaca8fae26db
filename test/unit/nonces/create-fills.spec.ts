import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainConnector, GasEstimate } from '../../../src/modules/chain/index.js';
import { CreateFills, type FreeSlot } from '../../../src/modules/nonces/application/fill-nonce-gaps.js';
import { NewFills } from '../../../src/modules/ledger/index.js';
import { aManagedTx, aSigner } from '../../support/builders.js';
import { gasRules } from '../../support/gas-rules.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const LEASES = [1, 2].map((n) => ({ signer: aSigner(n), owner: 'node', token: BigInt(n) }));
const SLOTS = [
  { signer: aSigner(1), nonce: 7n },
  { signer: aSigner(2), nonce: 3n },
];

let estimates: GasEstimate[];
let asked: unknown[];
let writes: RecordedWrites;
let log: RecordingLog;
let create: CreateFills;

beforeEach(() => {
  estimates = [22_000n, 30_000n].map((gas) => ({ kind: 'ok', gas }));
  [asked, writes, log] = [[], new RecordedWrites(), new RecordingLog()];
  let made = 0;
  create = new CreateFills(new NewFills({ next: () => `fill-${(made += 1)}` }), gasRules(), writes.asDoor(), log);
});

const fill = (slots: readonly FreeSlot[] = SLOTS) => {
  const chain = {
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

  it('is none where outside senders have the key: the slots go back to them in one commit, and nothing is written for none', async () => {
    await create.giveBack(LEASES, SLOTS);
    expect(writes.written.map(({ changes }) => changes.attempts?.reopened)).toEqual([SLOTS]);
    expect([writes.operations, writes.slots('reopened'), writes.released, writes.fills]).toEqual([
      ['give_back'],
      SLOTS,
      SLOTS,
      [],
    ]);
    await create.giveBack(LEASES, []);
    expect(writes.written).toHaveLength(1);
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
