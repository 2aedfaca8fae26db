import { groupBy } from '../../../kernel/group-by.js';
import { signerKey } from '../../../kernel/signer-id.js';
import type { Attempt } from '../../transactions/index.js';

/** As many as go into one request by default (`chains[].rpcBatchSize`). */
const ROOM = 100;

/**
 * What is to be sent one after the other: all of a signer, in nonce order, for a node may refuse a nonce that it sees too early.
 * Signers do not wait for each other, so what does not fit into one request goes side by side: behind a far node a round trip is
 * most of a lane step.
 */
export function sendBatches<Item extends { readonly attempt: Pick<Attempt, 'signer' | 'nonce'> }>(
  items: readonly Item[],
): Item[][] {
  const ordered = [...items].sort((a, b) => (a.attempt.nonce < b.attempt.nonce ? -1 : 1));
  const trains: Item[][] = [];
  for (const own of groupBy(ordered, ({ attempt }) => signerKey(attempt.signer)).values()) {
    const last = trains.at(-1);
    if (last && last.length + own.length <= ROOM) last.push(...own);
    else trains.push(own);
  }
  return trains;
}
