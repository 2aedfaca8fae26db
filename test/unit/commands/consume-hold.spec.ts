import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { Unavailable } from '../../../src/kernel/errors.js';
import type { Hash } from '../../../src/kernel/hex.js';
import { Chains, type SentTransaction } from '../../../src/modules/chain/index.js';
import { ConsumeHold } from '../../../src/modules/commands/application/consume-hold.js';
import { SubmitCommand } from '../../../src/modules/commands/application/submit-command.js';
import { type TxState } from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { ManagedTxRepository } from '../../../src/modules/ledger/index.js';
import { type Pause, Pauses } from '../../../src/platform/scheduling/pause.js';
import { aCommand, aHash, aManagedTx, anAddress, aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ModelChain } from '../../support/model-chain.js';
import { aSentTransaction } from '../../support/sent-builders.js';

const SIGNER = aSigner();
const NAMED = aHash(7);

let answer: () => SentTransaction | null | Promise<null>;
let stored: number;
/** Whether a command has its key, where its hold is, and what is known to use it. */
let isStored: boolean;
let state: TxState;
let known: Hash;
let asked: number;
let paused: number[];

beforeEach(() => {
  [answer, stored, isStored, state, asked, paused] = [() => null, 0, false, 'ALLOCATED', 0, []];
  known = aHash(8);
});

function consume() {
  const chain = Object.assign(new ModelChain(), {
    transactions: async () => ((asked += 1), [await answer()]),
  });
  const submit = fakeOf(SubmitCommand, {
    isStored: async () => isStored,
    execute: async () => ((stored += 1), { command: aCommand({ kind: 'consume' }), isNew: true }),
  });
  const hold = aManagedTx({ txId: 'hold', kind: 'hold', state, nonce: 7n, txHash: known }).build();
  const pause: Pause = async (ms) => {
    paused.push(ms);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return new ConsumeHold(
    fakeOf(Chains, { get: () => chain }),
    submit,
    fakeOf(ManagedTxRepository, { byIds: async () => [hold] }),
    fakeOf(Pauses, { pause }),
  ).execute(
    { signer: SIGNER, nonce: 7n },
    {
      txId: 'hold',
      kind: 'consume',
      sender: ANYONE,
      requestId: null,
      requestHash: aHash(1),
      fees: null,
      request: null,
      txHash: NAMED,
    },
  );
}

describe('a consume', () => {
  it('is stored when the hash is that of its signer with its nonce', async () => {
    answer = () => aSentTransaction({ account: SIGNER.address, nonce: 7n, hash: NAMED });
    await consume();
    expect(stored).toBe(1);
  });

  it('is stored when no endpoint knows the hash, or none answers', async () => {
    await consume();
    answer = () => {
      throw new Unavailable('rpc_unavailable', 'no endpoint answers', 'try again');
    };
    await consume();
    expect(stored).toBe(2);
  });

  it('is stored when no endpoint answers within 2 s', async () => {
    answer = () => new Promise<null>(() => undefined);
    await consume();
    expect([stored, paused]).toEqual([1, [2_000]]);
  });

  it('asks no endpoint when its key is known, or the hold decides it', async () => {
    isStored = true;
    await consume();
    isStored = false;
    for (state of ['MINED', 'CANCELLED'] as const) await consume();
    [state, known] = ['IN_MEMPOOL', NAMED];
    await consume();
    expect([stored, asked]).toEqual([4, 0]);
  });

  it.each([
    ['another sender', { account: anAddress(9), nonce: 7n }],
    ['another nonce', { account: SIGNER.address, nonce: 8n }],
  ])('is refused, and nothing is stored, when the hash is that of %s', async (_what, sent) => {
    answer = () => aSentTransaction({ ...sent, hash: NAMED });
    for (state of ['ALLOCATED', 'IN_MEMPOOL'] as const)
      await expect(consume()).rejects.toMatchObject({ code: 'other_transaction' });
    expect(stored).toBe(0);
  });
});
