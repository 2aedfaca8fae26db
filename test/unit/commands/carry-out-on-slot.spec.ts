import { beforeEach, describe, expect, it } from '@jest/globals';
import { NOTHING_ASKED } from '../../../src/modules/commands/application/ask-chain.js';
import { CarryOutOnSlot } from '../../../src/modules/commands/application/carry-out-on-slot.js';
import { CloseUnwanted } from '../../../src/modules/commands/application/close-unwanted.js';
import type { TxCommand } from '../../../src/modules/commands/domain/tx-command.js';
import { CommandedTxs, type ManagedTx, ManagedTxRepository } from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aCommand, aHash, aLease, aManagedTx, aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';

const LEASES = [aLease(aSigner())];
const NAMED = aHash(7);
const DONE = { commandId: 'command-1', refusal: null };

let txs: ManagedTx[];
let writes: RecordedWrites;
let extended: [string, number][];
let closed: string[];

beforeEach(() => {
  [txs, writes, extended, closed] = [[], new RecordedWrites(), [], []];
});

function carryOut(command: Partial<TxCommand>, progress: Partial<TxProgress> | null) {
  txs = progress ? [aManagedTx({ txId: 'tx', kind: 'hold', nonce: 7n, ...progress }).build()] : [];
  return new CarryOutOnSlot(
    fakeOf(CloseUnwanted, { cancel: async (_leases, { kind }) => (closed.push(kind), DONE) }),
    fakeOf(ManagedTxRepository, { byIds: async () => txs }),
    fakeOf(CommandedTxs, { extend: async (_fence, { id }, ttl) => void extended.push([id, ttl]) }),
    writes.asDoor(),
  ).execute(LEASES, aCommand(command), NOTHING_ASKED);
}

describe('a consume', () => {
  it('makes a hold followed by the hash that its sender named: nothing ends it now but the chain', async () => {
    expect(await carryOut({ kind: 'consume', txHash: NAMED }, { state: 'ALLOCATED' })).toEqual(DONE);
    expect(writes.written).toMatchObject([{ operation: 'consume' }]);
    expect(writes.txs).toMatchObject([{ state: 'IN_MEMPOOL', progress: { txHash: NAMED } }]);
  });

  it('names another one than before while nothing is mined; the no-op of a hold that is closed stays the one that is sent', async () => {
    expect(await carryOut({ kind: 'consume', txHash: NAMED }, { state: 'IN_MEMPOOL', txHash: aHash(8) })).toEqual(DONE);
    expect(writes.txs).toMatchObject([{ state: 'IN_MEMPOOL', progress: { txHash: NAMED } }]);
    const closing = { as: 'CANCELLED', reason: 'closed', won: false } as const;
    const closed = { state: 'IN_MEMPOOL', txHash: aHash(8), closing } as const;
    expect(await carryOut({ kind: 'consume', txHash: NAMED }, closed)).toEqual(DONE);
    expect(writes.written).toHaveLength(1);
  });

  it('changes nothing where it is known already, and is refused where another one is mined', async () => {
    expect(await carryOut({ kind: 'consume', txHash: NAMED }, { state: 'IN_MEMPOOL', txHash: NAMED })).toEqual(DONE);
    const { refusal } =
      (await carryOut({ kind: 'consume', txHash: NAMED }, { state: 'MINED', txHash: aHash(8) })) ?? DONE;
    expect(refusal).toContain(aHash(8));
    expect(writes.written).toEqual([]);
  });
});

describe('an extend', () => {
  it('moves the end of a hold', async () => {
    expect(await carryOut({ kind: 'extend', ttl: 60 }, { state: 'ALLOCATED' })).toEqual(DONE);
    expect(extended).toEqual([['tx', 60]]);
  });

  it('is refused when something was sent, or nothing is known of the hold any more', async () => {
    const refusals = [
      await carryOut({ kind: 'extend', ttl: 60 }, { state: 'IN_MEMPOOL' }),
      await carryOut({ kind: 'extend', ttl: 60 }, null),
    ].map((decision) => decision?.refusal);
    expect(refusals).toEqual(['a transaction with its nonce may be out', 'no such transaction']);
    expect(extended).toEqual([]);
  });
});

it('a cancel, a release and a close are ends', async () => {
  await carryOut({ kind: 'cancel' }, { state: 'ALLOCATED' });
  await carryOut({ kind: 'release' }, { state: 'ALLOCATED' });
  await carryOut({ kind: 'close' }, { state: 'IN_MEMPOOL' });
  expect(closed).toEqual(['cancel', 'release', 'close']);
});
