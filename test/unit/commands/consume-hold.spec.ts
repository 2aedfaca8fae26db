import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { Unavailable } from '../../../src/kernel/errors.js';
import { Chains, type SentTransaction } from '../../../src/modules/chain/index.js';
import { ConsumeHold } from '../../../src/modules/commands/application/consume-hold.js';
import { SubmitCommand } from '../../../src/modules/commands/application/submit-command.js';
import { aCommand, aHash, anAddress, aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ModelChain } from '../../support/model-chain.js';
import { aSentTransaction } from '../../support/sent-builders.js';

const SIGNER = aSigner();
const NAMED = aHash(7);

let answer: () => SentTransaction | null;
let stored: number;

beforeEach(() => {
  [answer, stored] = [() => null, 0];
});

function consume() {
  const chain = Object.assign(new ModelChain(), { transactions: async () => [answer()] });
  const submit = fakeOf(SubmitCommand, {
    execute: async () => ((stored += 1), { command: aCommand({ kind: 'consume' }), isNew: true }),
  });
  return new ConsumeHold(fakeOf(Chains, { get: () => chain }), submit).execute(
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

  it.each([
    ['another sender', { account: anAddress(9), nonce: 7n }],
    ['another nonce', { account: SIGNER.address, nonce: 8n }],
  ])('is refused, and nothing is stored, when the hash is that of %s', async (_what, sent) => {
    answer = () => aSentTransaction({ ...sent, hash: NAMED });
    await expect(consume()).rejects.toMatchObject({ code: 'other_transaction' });
    expect(stored).toBe(0);
  });
});
