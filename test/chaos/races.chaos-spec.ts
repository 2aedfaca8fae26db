import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { callRpc } from '../../src/dev/json-rpc.js';
import type { TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { countByInput, readChain } from '../support/chain-reader.js';
import { Cluster } from '../support/cluster.js';
import { bodyOf, dataOf } from '../support/cluster-clients.js';
import type { ClusterNode } from '../support/cluster-node.js';
import { until } from '../support/until.js';
import { type Page } from '../../src/platform/http/page-cursor.js';

type Command = 'cancel' | 'replace';
type Side = 'original' | 'competitor';

let anvil: RunningAnvil;
let cluster: Cluster;

beforeAll(async () => {
  // The test decides what is mined, and when.
  anvil = await startAnvil({ extraArgs: ['--no-mining'] });
  // Nothing is sent again by a timer, so the second broadcast of the first node is that of the competitor.
  cluster = await Cluster.start({
    nodes: 2,
    rpcUrl: anvil.url,
    viaProxies: true,
    config: { resubmit: { interval: '10m' } },
  });
  await Promise.all(cluster.nodes.map((node) => node.stop()));
});

afterEach(async () => {
  for (const node of cluster.nodes) if (node.answers) await node.stop();
});

afterAll(async () => {
  await cluster.stop();
  await anvil.kill();
});

const mine = (): Promise<unknown> => callRpc(anvil.url, 'evm_mine', []);

/** What a node sent since it had sent so much, without what it sent again: on a busy machine a timer may run out before a send is recorded. */
const sentBy = ({ links }: ClusterNode, before = 0): string[] => [
  ...new Set(links.rpc.sent.slice(before).map(({ raw }) => raw)),
];

async function txOf(node: ClusterNode, txId: string): Promise<TxView> {
  return (await node.service.get<TxView>(`/api/v1/tx/${txId}`)).body;
}

/** A tx that is out, and a command about it whose competitor is out, too, when the node dies. */
async function raceThatNobodyRecorded(node: ClusterNode, signer: string, command: Command): Promise<string> {
  await node.start({ LOCKSTEP_CRASH_AT: 'after_broadcast:2' });
  const { body } = await node.service.post<TxView>('/api/v1/tx', bodyOf(signer, `${command}-original`));
  await until('the original is out', async () => (await txOf(node, body.txId)).state === 'IN_MEMPOOL');
  const { payload } = bodyOf(signer, 'replacement');
  const more = command === 'cancel' ? {} : { payload };
  // The node may die before it answers.
  await node.service
    .post(`/api/v1/tx/${body.txId}/${command}`, { requestId: command + signer, ...more })
    .catch(() => {});
  expect(await node.service.exited).toEqual({ code: null, signal: 'SIGKILL' });
  return body.txId;
}

/** The other side leaves the pool, and this one is in the next block. */
async function minersTake(
  side: Side,
  raw: Readonly<Record<Side, string>>,
  hashes: Readonly<Record<Side, string>>,
): Promise<void> {
  const loser = side === 'original' ? 'competitor' : 'original';
  await callRpc(anvil.url, 'anvil_dropTransaction', [hashes[loser]]);
  await callRpc(anvil.url, 'eth_sendRawTransaction', [raw[side]]).catch(() => 'it is in the pool already');
  await mine();
  expect(await callRpc(anvil.url, 'eth_getTransactionReceipt', [hashes[side]])).not.toBeNull();
}

async function attemptsOf(signer: string): Promise<{ hash: string; raw: string; status: string; kind: string }[]> {
  return cluster.database.query(
    `SELECT tx_hash AS hash, '0x' || encode(raw, 'hex') AS raw, status, kind FROM tx_attempt WHERE signer = $1 ORDER BY created_at`,
    [signer.toLowerCase()],
  );
}

async function openRowsOf(signer: string): Promise<number> {
  const rows = await cluster.database.query<{ state: string }>(
    `SELECT state FROM managed_tx WHERE signer = $1 UNION ALL SELECT status FROM tx_command WHERE signer = $1`,
    [signer.toLowerCase()],
  );
  return rows.filter(({ state }) => !DECIDED.has(state)).length;
}

const DECIDED = new Set(['CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED', 'DONE', 'REFUSED']);

const RACES: readonly { command: Command; winner: Side }[] = [
  { command: 'cancel', winner: 'original' },
  { command: 'cancel', winner: 'competitor' },
  { command: 'replace', winner: 'original' },
  { command: 'replace', winner: 'competitor' },
];

/*
 * The fault happened, because: the process ended by SIGKILL and nobody but itself sent it one; the competitor was on its wire to the chain;
 * and its attempt is stored as SIGNED, so no answer was recorded.
 */
it.each(RACES.map((race, index) => ({ ...race, index })))(
  'a $command whose node dies between broadcast and record ends right at the next node when the $winner is mined',
  async ({ command, winner, index }) => {
    const [crashing, next] = [cluster.node(0), cluster.node(1)];
    const signer = DEV_ACCOUNTS[index] ?? '';
    const before = sentBy(crashing).length;
    const txId = await raceThatNobodyRecorded(crashing, signer, command);
    const attempts = await attemptsOf(signer);
    const [original, competitor] = attempts;
    expect(attempts.map(({ status }) => status)).toEqual(['ACCEPTED', 'SIGNED']);
    expect(sentBy(crashing).slice(before)).toEqual([original?.raw, competitor?.raw]);

    const sentBefore = next.links.rpc.sent.length;
    await next.start();
    await until('the next node sends the competitor', async () => next.links.rpc.sent.length > sentBefore);
    const raw = { original: original?.raw ?? '', competitor: competitor?.raw ?? '' };
    await minersTake(winner, raw, { original: original?.hash ?? '', competitor: competitor?.hash ?? '' });
    await until('the race is over, and its command decided', async () => {
      await mine();
      return (await openRowsOf(signer)) === 0;
    });
    // The next node signed nothing: it sent what it had found.
    expect(await attemptsOf(signer)).toHaveLength(2);
    expect(sentBy(next, sentBefore)).toEqual([raw.competitor]);
    expect(await endOf(next, txId)).toEqual(END[command][winner]);
    const executed = countByInput(await readChain(anvil.url));
    const times = [`${command}-original`, 'replacement'].map((id) => executed.get(dataOf(signer, id)) ?? 0);
    expect(times).toEqual(winner === 'original' ? [1, 0] : command === 'cancel' ? [0, 0] : [0, 1]);
    expect(await cluster.database.staleWrites()).toEqual([]);
  },
);

interface End {
  readonly commands: readonly string[];
  readonly original: string;
  readonly replacement: string | null;
  /** Whether the original names its replacement, and the replacement its original. */
  readonly links: readonly boolean[];
}

const END: Readonly<Record<Command, Readonly<Record<Side, End>>>> = {
  cancel: {
    original: { commands: ['DONE'], original: 'CONFIRMED', replacement: null, links: [false] },
    competitor: { commands: ['DONE'], original: 'CANCELLED', replacement: null, links: [false] },
  },
  replace: {
    original: { commands: ['DONE'], original: 'CONFIRMED', replacement: 'DROPPED', links: [false, true] },
    competitor: { commands: ['DONE'], original: 'REPLACED', replacement: 'CONFIRMED', links: [true, true] },
  },
};

async function endOf(node: ClusterNode, txId: string): Promise<End> {
  const { body } = await node.service.get<Page<{ status: string; replacement: string | null }>>(
    `/api/v1/tx/${txId}/commands`,
  );
  const original = await txOf(node, txId);
  const replacementId = body.items[0]?.replacement ?? null;
  const replacement = replacementId === null ? null : await txOf(node, replacementId);
  return {
    commands: body.items.map(({ status }) => status),
    original: original.state,
    replacement: replacement?.state ?? null,
    links: [
      original.replacedBy !== null && original.replacedBy === replacementId,
      ...(replacement ? [replacement.replaces === txId] : []),
    ],
  };
}
