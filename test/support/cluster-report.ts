import { callRpc } from '../../src/dev/json-rpc.js';
import type { ClusterDatabase } from './cluster-database.js';
import type { ClusterNode } from './cluster-node.js';

/** Lines of the log of a process. */
const LAST_WARNINGS = 100;
const LAST_LINES = 30;

/** What tells why something of a cluster does not end, for the message of a test that failed. */
export async function clusterReport(
  rpcUrl: string,
  database: ClusterDatabase,
  nodes: readonly ClusterNode[],
): Promise<string> {
  const signers = await attempted(() => database.unfinished());
  const addresses = Array.isArray(signers) ? signers.map(({ signer }) => String(signer)) : [];
  const ask = (method: string, ...params: readonly unknown[]) => attempted(() => callRpc(rpcUrl, method, params));
  const nonces = await Promise.all(
    addresses.map(async (signer) => ({
      signer,
      latest: await ask('eth_getTransactionCount', signer, 'latest'),
      pending: await ask('eth_getTransactionCount', signer, 'pending'),
    })),
  );
  const facts = {
    head: await ask('eth_blockNumber'),
    followed: await attempted(() => database.query('SELECT max(number) AS tip FROM chain_block WHERE canonical')),
    pool: await ask('txpool_status'),
    inPool: await ask('txpool_inspect'),
    nonces,
    signers,
  };
  return [
    ...Object.entries(facts).map(([name, fact]) => `${name}: ${JSON.stringify(fact)}`),
    ...nodes.flatMap(({ name, lives }) =>
      lives.flatMap((life, n) => [
        `== ${name}, process ${n + 1} of ${lives.length}, ${life.running ? 'running' : 'ended'}: its warnings`,
        ...life.warnings().slice(-LAST_WARNINGS),
        '== its last lines',
        ...life.log.join('').trimEnd().split('\n').slice(-LAST_LINES),
      ]),
    ),
  ].join('\n');
}

/** What cannot be had is no reason to lose the rest. */
async function attempted<T>(work: () => Promise<T>): Promise<T | string> {
  try {
    return await work();
  } catch (error) {
    return String(error);
  }
}
