import { parseAddress } from '../../src/kernel/hex.js';
import { FOREIGN_DATA } from '../support/model-chain.js';
import { checkAllEnded } from './liveness.js';
import type { Network } from './network/network.js';
import type { OpenSlots } from './open-slots.js';
import type { SimChain } from './sim-chain.js';
import type { Snapshot } from './snapshot.js';
import { Violation } from './violation.js';

/** What must hold when faults are off and time has passed. */
export function checkEnd(
  accepted: ReadonlyMap<string, string>,
  end: Snapshot,
  network: Network,
  open: OpenSlots,
): void {
  checkAllEnded(end, network, open);
  checkNothingLost(accepted, end);
  checkNoHole(end, network.chain, open);
  checkOutcomes(end, network.chain);
}

/** I3 and I8: every accepted request is there once. */
function checkNothingLost(accepted: ReadonlyMap<string, string>, { txs }: Snapshot): void {
  const known = new Set(txs.map(({ id }) => id));
  for (const [request, id] of accepted) if (!known.has(id)) fail('I8', `request ${request} is lost`);
  if (known.size !== accepted.size) fail('I3', `${accepted.size} requests made ${known.size} txs`);
}

/** I7: below the highest slot in use, every nonce is on chain. */
function checkNoHole({ slots }: Snapshot, chain: SimChain, open: OpenSlots): void {
  const mined = new Map<string, number>();
  for (const { from } of chain.minedTxs()) mined.set(from, (mined.get(from) ?? 0) + 1);
  for (const slot of slots) {
    const { signer, nonce, status } = slot;
    const onChain = nonce < (mined.get(signer) ?? 0);
    if (status === 'RELEASED' && onChain && wasForeign(chain, signer, nonce)) continue;
    // Its fill is mined, and not final yet.
    if (status === 'HELD' && open.isOnItsWay(slot)) continue;
    if ((status === 'CONSUMED') !== onChain)
      fail('I7', `slot ${nonce} of ${signer} is ${status}, and the chain is at ${mined.get(signer) ?? 0}`);
  }
}

/** A free slot that somebody else used is forgotten when the cursor is aligned, before the next allocation on a new lease. */
function wasForeign(chain: SimChain, signer: string, nonce: number): boolean {
  return chain.minedBy(parseAddress(signer), BigInt(nonce))?.tx.data === FOREIGN_DATA;
}

/** I8 and I9: what is CONFIRMED is on chain once, and what FAILED did not execute. */
function checkOutcomes({ txs }: Snapshot, chain: SimChain): void {
  for (const tx of txs) {
    const onChain = chain.minedTxs().filter(({ data }) => data === tx.data);
    const executed = onChain.filter(({ data }) => !chain.reverting.has(data)).length;
    const expected = tx.state === 'CONFIRMED' ? 1 : 0;
    if (executed !== expected) fail('I8', `${tx.id} is ${tx.state} (${tx.reason}), and was executed ${executed} times`);
    const [winner] = onChain;
    if (tx.state === 'CONFIRMED' && winner?.hash !== tx.hash) fail('I9', `${tx.id} is confirmed with another hash`);
  }
}

function fail(invariant: string, words: string): never {
  throw new Violation(invariant, words);
}
