import { callRpc } from '../../src/dev/json-rpc.js';
import { Database } from '../../src/platform/database/database.js';
import type { TestNode } from './test-node.js';

/** As if this database had known the account all along: an unknown one that was used before waits for a second look. */
export async function knowNonce(node: TestNode, chainUrl: string, signer = node.signer()): Promise<void> {
  const { chainId, address } = signer;
  const count = await callRpc(chainUrl, 'eth_getTransactionCount', [address, 'latest']);
  await node.get(Database).query(KNOW_NONCE, [chainId, address, Number(count)]);
}

const KNOW_NONCE = {
  name: 'test_know_nonce',
  text: `INSERT INTO signer_nonce_cursor (chain_id, signer, next_nonce, fencing_token, last_synced_at) VALUES ($1, $2, $3, 1, clock_timestamp())`,
};
