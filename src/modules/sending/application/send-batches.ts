import { groupBy } from '../../../kernel/group-by.js';
import { signerKey } from '../../../kernel/signer-id.js';
import type { Attempt } from '../../transactions/index.js';

/** As many as fit into one request by default (`chains[].rpcBatchSize`). */
const BATCH_SIZE_TXS = 100;

/**
 * Groups sends into batches. All sends of a signer go into one batch, in nonce order, because a node may refuse a nonce before it knows the
 * lower ones. Signers do not depend on each other, so batches are sent in parallel: to a distant node, one round trip is most of a lane
 * step.
 */
export function sendBatches<Item extends { readonly attempt: Pick<Attempt, 'signer' | 'nonce'> }>(
  items: readonly Item[],
): Item[][] {
  const ordered = [...items].sort((a, b) => (a.attempt.nonce < b.attempt.nonce ? -1 : 1));
  const batches: Item[][] = [];
  for (const own of groupBy(ordered, ({ attempt }) => signerKey(attempt.signer)).values()) {
    const last = batches.at(-1);
    if (last && last.length + own.length <= BATCH_SIZE_TXS) last.push(...own);
    else batches.push(own);
  }
  return batches;
}
