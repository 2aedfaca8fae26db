import { afterEach, expect, it } from '@jest/globals';
import { JsonRpcProvider, keccak256 } from 'ethers';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { DEV_CHAIN } from '../support/builders.js';
import { readChain } from '../support/chain-reader.js';
import { Cluster } from '../support/cluster.js';
import { dataOf } from '../support/cluster-clients.js';
import { devWallet } from '../support/dev-wallets.js';
import { until } from '../support/until.js';

const [SIGNER] = DEV_ACCOUNTS;
const NONCES = `/api/v1/signers/${DEV_CHAIN}/${SIGNER}/nonces`;
const KILLS = 3;
/** What an outside sender does with its nonce. `dies`: it never sends, and says nothing. */
const USES = ['sends', 'names and sends', 'gives back', 'dies'] as const;
type Use = (typeof USES)[number];

interface Reserved {
  readonly holdId: string;
  readonly nonce: number;
}

let cluster: Cluster;
let provider: JsonRpcProvider;

afterEach(async () => {
  provider.destroy();
  await cluster.stop();
});

/** Outside senders that work a signer together with payloads of Lockstep. */
class OutsideSenders {
  /** What becomes of each hold in the end: its state, and the hash of what was sent. */
  readonly ends = new Map<string, readonly [state: string, txHash: string | null]>();
  readonly sent: string[] = [];

  async use(mark: string, how: Use): Promise<void> {
    const { holdId, nonce } = await this.reserve(mark, how === 'dies' ? 10 : 600);
    const raw = await devWallet(0).signTransaction({
      ...{ type: 2, chainId: DEV_CHAIN, nonce, to: SIGNER, data: dataOf(SIGNER, mark), gasLimit: 100_000 },
      ...{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n },
    });
    const txHash = keccak256(raw);
    if (how === 'names and sends') await this.say(`${nonce}/consume`, { holdId, txHash });
    if (how === 'gives back') await this.say(`${nonce}/release`, { holdId });
    if (how === 'gives back' || how === 'dies') {
      this.ends.set(holdId, ['CANCELLED', null]);
      return;
    }
    this.ends.set(holdId, ['CONFIRMED', txHash]);
    this.sent.push(dataOf(SIGNER, mark));
    await provider.broadcastTransaction(raw);
  }

  private async say(what: string, body: object): Promise<void> {
    const { status, body: answer } = await cluster.post(`${NONCES}/${what}`, body);
    expect([what, status < 300, answer]).toEqual([what, true, answer]);
  }

  private async reserve(requestId: string, ttl: number): Promise<Reserved> {
    for (;;) {
      const { status, body } = await cluster.post(NONCES, { requestId, ttl });
      const [hold] = (body as { holds?: { holdId: string; nonce: number | null }[] }).holds ?? [];
      if (!hold) throw new Error(`${requestId} got no hold: ${status} ${JSON.stringify(body)}`);
      if (hold.nonce !== null) return { holdId: hold.holdId, nonce: hold.nonce };
      await sleep(50);
    }
  }
}

/** The fault happened, because every kill ends a process by SIGKILL. */
it.each([
  { mode: 'worker-queue', rounds: 24 },
  { mode: 'basic', rounds: 8 },
])(
  'outside senders and payloads share one sequence without gap or double while nodes are killed ($mode)',
  async ({ mode, rounds }) => {
    cluster = await Cluster.start({
      nodes: 3,
      config: { execution: { mode, maxInFlight: 2_000, inFlightStart: 2_000 } },
    });
    provider = new JsonRpcProvider(cluster.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1 });
    const outside = new OutsideSenders();
    const restarts: number[] = [];
    const done = { rounds: 0, failed: false };
    const goesOn = (): boolean => !done.failed && (done.rounds < rounds || restarts.length < KILLS);
    const work = (async () => {
      for (; goesOn(); done.rounds += 1) {
        // Those that die end one after the other, after two blocks each: only the next nonce of the chain can be proven unused.
        const uses = USES.filter((how) => how !== 'dies' || done.rounds % 4 === 0);
        const senders = uses.flatMap((how) => [0, 1].map((n) => outside.use(`hold-${done.rounds}-${how}-${n}`, how)));
        await Promise.all([cluster.createMany([SIGNER], `payload-${done.rounds}`, 8), ...senders]);
        await sleep(200);
      }
    })();
    work.catch(() => (done.failed = true));
    await cluster.killInTurn(restarts, goesOn);
    await work;

    const stored = () =>
      cluster.database.query<{ tx_id: string; state: string; tx_hash: string | null }>(
        `SELECT tx_id, state, CASE WHEN state = 'CONFIRMED' THEN tx_hash END AS tx_hash FROM managed_tx WHERE kind = 'hold'`,
      );
    const ended = [...outside.ends].map(([id, end]) => [id, ...end]).sort();
    await until(
      'every hold has ended',
      async () => (await stored()).every(({ state }) => state === 'CONFIRMED' || state === 'CANCELLED'),
      90_000,
    );
    expect((await stored()).map(({ tx_id: id, state, tx_hash: hash }) => [id, state, hash]).sort()).toEqual(ended);
    // What was given back last has something behind it now.
    await cluster.create(SIGNER, 'payload-last');
    const payloads = cluster.clients.promised.get(SIGNER.toLowerCase()) ?? [];
    await cluster.confirmed(payloads.length, 'payload-');
    await until('every nonce is used for good', async () => {
      const [slots] = await cluster.database.query<{ open: string }>(
        `SELECT count(*) AS open FROM signer_nonce_allocation WHERE status <> 'CONSUMED'`,
      );
      return slots?.open === '0';
    });
    const chain = (await readChain(cluster.rpcUrl)).filter(({ from }) => from.toLowerCase() === SIGNER.toLowerCase());
    expect(chain.map(({ nonce }) => nonce).sort((a, b) => a - b)).toEqual(chain.map((_, nonce) => nonce));
    const noOps = chain.filter(({ input }) => input === '0x').length;
    expect(chain.flatMap(({ input }) => (input === '0x' ? [] : [input])).sort()).toEqual(
      [...payloads, ...outside.sent].sort(),
    );
    expect(noOps).toBeLessThanOrEqual(ended.length - outside.sent.length);
    expect(await cluster.database.sharedSlots()).toEqual([]);
    expect(await cluster.database.staleWrites()).toEqual([]);
  },
);
