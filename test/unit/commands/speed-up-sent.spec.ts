import { beforeEach, describe, expect, it } from '@jest/globals';
import { SpeedUpSent } from '../../../src/modules/commands/application/speed-up-sent.js';
import type { Fence } from '../../../src/modules/signers/index.js';
import type { CommandStore } from '../../../src/modules/commands/domain/tx-command.js';
import type { OnRequest } from '../../../src/modules/sending/application/bump-attempts.js';
import type { BumpAttempts, BumpResult } from '../../../src/modules/sending/index.js';
import type { ManagedTx, ManagedTxRepository, TxRequest } from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aCommand, aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { ModelChain } from '../../support/model-chain.js';

const LEASES = [{ signer: aSigner(), owner: 'node', token: 1n }];
const CHAIN = new ModelChain();

let txs: ManagedTx[];
/** What comes of the bump; null when it says nothing about the tx. */
let result: BumpResult | null;
let bumped: unknown[][];
let isQueued: boolean;
/** Decisions, with the commit in which they were written. */
let decided: unknown[][];
const COMMIT = { open: true };
let speedUp: SpeedUpSent;

beforeEach(() => {
  [result, bumped, isQueued, decided] = ['bumped', [], true, []];
  txs = [aManagedTx({ txId: 'tx', state: 'IN_MEMPOOL', nonce: 7n }).build()];
  speedUp = new SpeedUpSent(
    {
      byIds: async (ids: readonly string[]) => txs.filter(({ id }) => ids.includes(id)),
    } as unknown as ManagedTxRepository,
    {
      execute: async (
        chain: unknown,
        leases: unknown,
        wanted: readonly { readonly tx: ManagedTx }[],
        asked: OnRequest,
      ) => {
        bumped.push([chain, leases, wanted]);
        const ids = wanted.map(({ tx }) => tx.id);
        if (result === 'bumped') await asked.inSameCommit({ tx: COMMIT } as unknown as Fence, ids);
        return new Map(ids.flatMap((id) => (result === null ? [] : [[id, result] as const])));
      },
    } as unknown as BumpAttempts,
    {
      get: async () => aCommand({ status: isQueued ? 'QUEUED' : 'DONE' }),
      decide: async (...args: unknown[]) => void decided.push(args),
    } as unknown as CommandStore,
  );
});

const said = async () => ({ quote: await CHAIN.feeQuote(), balance: 5n, gas: new Map() });

async function spedUp(fees: Partial<TxRequest['fees']> | null = null) {
  const command = aCommand({ kind: 'speed_up', fees: fees && { ...aRequest().fees, ...fees } });
  const [decision] = await speedUp.execute(CHAIN, LEASES, [command], await said());
  return decision;
}

describe('a speed-up', () => {
  it('bumps the tx at once, whatever its age and place', async () => {
    expect(await spedUp()).toEqual({ commandId: 'command-1', refusal: null });
    expect(bumped).toEqual([[CHAIN, LEASES, [{ tx: txs[0], force: true, fees: null, balance: 5n }]]]);
  });

  it('is done in the commit that stores the new bytes', async () => {
    await spedUp();
    expect(decided).toEqual([[[{ commandId: 'command-1', refusal: null }], COMMIT]]);
  });

  it('of many txs is one bump, and each is decided with its own tx', async () => {
    txs = ['a', 'b'].map((txId) => aManagedTx({ txId, state: 'IN_MEMPOOL', nonce: 7n }).build());
    const commands = ['a', 'b', 'gone'].map((id) => aCommand({ kind: 'speed_up', commandId: id, txId: id }));
    const decisions = await speedUp.execute(CHAIN, LEASES, commands, await said());
    expect(decisions).toEqual([
      { commandId: 'gone', refusal: 'no such transaction' },
      { commandId: 'a', refusal: null },
      { commandId: 'b', refusal: null },
    ]);
    expect([bumped.length, decided[0]?.[0]]).toEqual([1, decisions.slice(1)]);
  });

  it('that was decided since it was read bumps nothing', async () => {
    isQueued = false;
    expect(await spedUp()).toEqual({ commandId: 'command-1', refusal: null });
    expect(bumped.flatMap((call) => call[2])).toEqual([]);
  });

  it.each<[string, BumpResult | null]>([
    ['a higher price is above the caps', 'capped'],
    ['gas is free, and the balance of the signer does not cover a price above 0', 'unaffordable'],
    ['its price is above the market already', 'above_market'],
    ['it cannot be bumped now', 'not_possible'],
    ['it cannot be bumped now', null],
  ])('is refused when %s: %s', async (refusal, outcome) => {
    result = outcome;
    expect(await spedUp()).toEqual({ commandId: 'command-1', refusal });
    expect(decided).toEqual([]);
  });

  it.each<[string, Partial<TxRequest['fees']>, object]>([
    ['both fees', { maxFeePerGas: 9n, maxPriorityFeePerGas: 3n }, { maxFeePerGas: 9n, maxPriorityFeePerGas: 3n }],
    ['a fee cap alone', { maxFeePerGas: 9n }, { maxFeePerGas: 9n }],
    ['a tip alone', { maxPriorityFeePerGas: 3n }, { maxPriorityFeePerGas: 3n }],
    ['one price', { gasPrice: 9n }, { maxFeePerGas: 9n, maxPriorityFeePerGas: 9n }],
    ['a blob fee', { maxFeePerBlobGas: 4n }, { maxFeePerBlobGas: 4n }],
  ])('asks for %s; the rule of bumps raises the others', async (_what, fees, expected) => {
    await spedUp(fees);
    expect(bumped).toEqual([[CHAIN, LEASES, [{ tx: txs[0], force: true, fees: expected, balance: 5n }]]]);
  });

  it.each<[Partial<TxProgress>, string]>([
    [{ state: 'MINED' }, 'the transaction is in a block'],
    [{ state: 'PENDING', nonce: null }, 'the transaction has no nonce yet'],
    [{ state: 'IN_MEMPOOL', replacedBy: 'other' }, 'the transaction other competes for its nonce'],
  ])('that is not possible any more is refused, and nothing is bumped: %j', async (progress, refusal) => {
    txs = [aManagedTx({ txId: 'tx', nonce: 7n, ...progress }).build()];
    expect(await spedUp()).toEqual({ commandId: 'command-1', refusal });
    expect(bumped.flatMap((call) => call[2])).toEqual([]);
  });

  it('of a slot that is being closed bumps its no-op', async () => {
    const closing = { as: 'CANCELLED', reason: 'no', won: false } as const;
    txs = [aManagedTx({ txId: 'tx', state: 'IN_MEMPOOL', nonce: 7n, closing }).build()];
    expect(await spedUp()).toMatchObject({ refusal: null });
    expect(bumped).toHaveLength(1);
  });

  it('of an unknown tx is refused', async () => {
    txs = [];
    expect(await spedUp()).toEqual({ commandId: 'command-1', refusal: 'no such transaction' });
  });
});
