import { describe, expect, it } from '@jest/globals';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { aSigner } from '../../support/builders.js';
import { impatientBalances } from '../../support/refusals.js';

const [A, B] = [aSigner(1), aSigner(2)];

type Balances = (accounts: readonly string[]) => Promise<bigint[]>;

function asking(balances: Balances): (signers: readonly SignerId[]) => Promise<ReadonlyMap<string, bigint>> {
  const ask = impatientBalances();
  return (signers) => ask.execute({ balances }, signers);
}

describe('balances', () => {
  it('are asked once for each signer, fifty at a time', async () => {
    const calls: number[] = [];
    const ask = asking(async (accounts) => (calls.push(accounts.length), accounts.map(BigInt)));
    const signers = Array.from({ length: 60 }, (_, n) => aSigner(n));
    const told = await ask([...signers, ...signers]);
    expect([calls, told.size, told.get(signerKey(B))]).toEqual([[50, 10], 60, BigInt(B.address)]);
  });

  it('of one signer are not waited for by another', async () => {
    const ask = asking((accounts) =>
      accounts.includes(B.address) ? new Promise(() => undefined) : Promise.resolve([5n]),
    );
    expect([...(await ask([A, B]))]).toEqual([[signerKey(A), 5n]]);
  });
});
