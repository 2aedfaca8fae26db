import { expect } from '@jest/globals';
import { Transaction } from 'ethers';
import { readChain } from './chain-reader.js';

/** The call data that must be on chain, by signer in lower case. */
export type ExpectedPayloads = ReadonlyMap<string, readonly string[]>;

/** Each payload once and nothing else, on the next nonces from 0 on: no gap, no nonce twice. */
export async function expectEachOnce(rpcUrl: string, expected: ExpectedPayloads): Promise<void> {
  const chain = await readChain(rpcUrl);
  for (const [signer, payloads] of expected) {
    const ours = chain.filter(({ from }) => from.toLowerCase() === signer);
    expect({ signer, inputs: ours.map(({ input }) => input).sort() }).toEqual({ signer, inputs: [...payloads].sort() });
    expect(ours.map(({ nonce }) => nonce).sort((a, b) => a - b)).toEqual(ours.map((_, nonce) => nonce));
  }
}

/** Of all that was ever sent, accepted or not, no two transactions with one nonce had different payloads. */
export function expectOnePayloadPerNonce(sent: readonly { readonly raw: string }[]): void {
  const payloads = new Map<string, Set<string>>();
  for (const raw of new Set(sent.map((sending) => sending.raw))) {
    const { from, nonce, to, value, data } = Transaction.from(raw);
    const slot = `${String(from)}/${nonce}`;
    payloads.set(slot, (payloads.get(slot) ?? new Set()).add(`${String(to)}/${value}/${data}`));
  }
  expect([...payloads].filter(([, different]) => different.size > 1)).toEqual([]);
}
