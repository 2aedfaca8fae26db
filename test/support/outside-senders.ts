import { expect } from '@jest/globals';
import { JsonRpcProvider, keccak256 } from 'ethers';
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DEV_ACCOUNTS } from './anvil.js';
import { DEV_CHAIN } from './builders.js';
import { readChain } from './chain-reader.js';
import type { Cluster } from './cluster.js';
import { dataOf } from './cluster-clients.js';
import { devWallet } from './dev-wallets.js';
import { until } from './until.js';

const [SIGNER] = DEV_ACCOUNTS;
const NONCES = `/api/v1/signers/${DEV_CHAIN}/${SIGNER}/nonces`;
const KILLS = 3;
const GAS_LIMIT = 100_000n;
const MAX_FEE = 10n ** 11n;
const TIP = 10n ** 9n;
const RESEND_MS = 2_000;
/** So many of an account does geth's pool keep that wait for a lower nonce; it drops what is above them. */
const POOL_KEEPS = 64;
/** Foundry's `cast`: when it is named, every other outside sender signs and sends with it. */
const { CAST_BIN } = process.env;
const run = promisify(execFile);

/** What an outside sender does with its nonce. `dies`: it never sends, and says nothing. */
const USES = ['sends', 'names and sends', 'gives back', 'dies'] as const;
type Use = (typeof USES)[number];

interface Reserved {
  readonly holdId: string;
  readonly nonce: number;
}

/** Signs a call of the signer's to itself, and sends what it signed. */
interface Sender {
  sign(nonce: number, data: string): Promise<string>;
  send(raw: string): Promise<unknown>;
}

function byEthers(provider: JsonRpcProvider): Sender {
  return {
    sign: (nonce, data) =>
      devWallet(0).signTransaction({
        ...{ type: 2, chainId: DEV_CHAIN, nonce, to: SIGNER, data, gasLimit: GAS_LIMIT },
        ...{ maxFeePerGas: MAX_FEE, maxPriorityFeePerGas: TIP },
      }),
    send: (raw) => provider.broadcastTransaction(raw),
  };
}

function byCast(bin: string, rpcUrl: string): Sender {
  return {
    sign: async (nonce, data) => {
      const fees = ['--gas-price', `${MAX_FEE}`, '--priority-gas-price', `${TIP}`, '--gas-limit', `${GAS_LIMIT}`];
      const which = ['--chain', `${DEV_CHAIN}`, '--nonce', `${nonce}`, '--rpc-url', rpcUrl];
      const key = ['--private-key', devWallet(0).privateKey];
      return (await run(bin, ['mktx', ...key, ...which, ...fees, SIGNER, data])).stdout.trim();
    },
    send: (raw) => run(bin, ['publish', '--async', '--rpc-url', rpcUrl, raw]),
  };
}

/** Outside senders that work a signer together with payloads of Lockstep. */
class OutsideSenders {
  /** What becomes of each hold in the end: its state, and the hash of what was sent. */
  readonly ends = new Map<string, readonly [state: string, txHash: string | null]>();
  /** By nonce: the payload, and the signed bytes. */
  readonly sent = new Map<number, { readonly data: string; readonly raw: string }>();

  constructor(
    private readonly cluster: Cluster,
    private readonly provider: JsonRpcProvider,
  ) {}

  async use(mark: string, how: Use, by: Sender): Promise<void> {
    const { holdId, nonce } = await this.reserve(mark, how === 'dies' ? 10 : 600);
    const data = dataOf(SIGNER, mark);
    const raw = await by.sign(nonce, data);
    const txHash = keccak256(raw);
    if (how === 'names and sends') await this.say(`${nonce}/consume`, { holdId, txHash });
    if (how === 'gives back') await this.say(`${nonce}/release`, { holdId });
    if (how === 'gives back' || how === 'dies') {
      this.ends.set(holdId, ['CANCELLED', null]);
      return;
    }
    this.ends.set(holdId, ['CONFIRMED', txHash]);
    this.sent.set(nonce, { data, raw });
    await by.send(raw);
  }

  /** As every wallet does: what a pool dropped has to be offered again by who sent it. */
  async resend(): Promise<void> {
    const next = await this.provider.getTransactionCount(SIGNER);
    const waiting = [...this.sent].filter(([nonce]) => nonce >= next).sort(([a], [b]) => a - b);
    await Promise.allSettled(
      waiting.slice(0, POOL_KEEPS).map(([, { raw }]) => this.provider.send('eth_sendRawTransaction', [raw])),
    );
  }

  private async say(what: string, body: object): Promise<void> {
    const { status, body: answer } = await this.cluster.post(`${NONCES}/${what}`, body);
    expect([what, status < 300, answer]).toEqual([what, true, answer]);
  }

  private async reserve(requestId: string, ttl: number): Promise<Reserved> {
    for (;;) {
      const { status, body } = await this.cluster.post(NONCES, { requestId, ttl });
      const [hold] = (body as { holds?: { holdId: string; nonce: number | null }[] }).holds ?? [];
      if (!hold) throw new Error(`${requestId} got no hold: ${status} ${JSON.stringify(body)}`);
      if (hold.nonce !== null) return { holdId: hold.holdId, nonce: hold.nonce };
      await sleep(50);
    }
  }
}

/**
 * Outside senders and payloads share the sequence of one signer, while nodes are killed by SIGKILL one after the other: each nonce is used once, and
 * every hold ends as its sender used it.
 * @param rounds of eight payloads and six or eight holds each
 */
export async function expectOneSequence(cluster: Cluster, rounds: number): Promise<void> {
  const provider = new JsonRpcProvider(cluster.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1 });
  const outside = new OutsideSenders(cluster, provider);
  const resends = setInterval(() => void outside.resend().catch(() => undefined), RESEND_MS);
  try {
    await shareWhileKilled(cluster, outside, provider, rounds);
    await expectHoldsEnded(cluster, outside);
  } finally {
    clearInterval(resends);
    provider.destroy();
  }
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
    [...payloads, ...[...outside.sent.values()].map(({ data }) => data)].sort(),
  );
  expect(noOps).toBeLessThanOrEqual(outside.ends.size - outside.sent.size);
  expect(await cluster.database.sharedSlots()).toEqual([]);
  expect(await cluster.database.staleWrites()).toEqual([]);
}

/** The fault happened, because every kill ends a process by SIGKILL. */
async function shareWhileKilled(
  cluster: Cluster,
  outside: OutsideSenders,
  provider: JsonRpcProvider,
  rounds: number,
): Promise<void> {
  const ethers = byEthers(provider);
  const senders = [ethers, CAST_BIN === undefined ? ethers : byCast(CAST_BIN, cluster.rpcUrl)];
  const restarts: number[] = [];
  const done = { rounds: 0, failed: false };
  const goesOn = (): boolean => !done.failed && (done.rounds < rounds || restarts.length < KILLS);
  const work = (async () => {
    for (; goesOn(); done.rounds += 1) {
      // Those that die end one after the other, after two blocks each: only the next nonce of the chain can be proven unused.
      const uses = USES.filter((how) => how !== 'dies' || done.rounds % 4 === 0);
      const holds = uses.flatMap((how) =>
        senders.map((by, n) => outside.use(`hold-${done.rounds}-${how}-${n}`, how, by)),
      );
      await Promise.all([cluster.createMany([SIGNER], `payload-${done.rounds}`, 8), ...holds]);
      await sleep(200);
    }
  })();
  work.catch(() => (done.failed = true));
  await cluster.killInTurn(restarts, goesOn);
  await work;
}

async function expectHoldsEnded(cluster: Cluster, { ends }: OutsideSenders): Promise<void> {
  const stored = () =>
    cluster.database.query<{ tx_id: string; state: string; tx_hash: string | null }>(
      `SELECT tx_id, state, CASE WHEN state = 'CONFIRMED' THEN tx_hash END AS tx_hash FROM managed_tx WHERE kind = 'hold'`,
    );
  await until(
    'every hold has ended',
    async () => (await stored()).every(({ state }) => state === 'CONFIRMED' || state === 'CANCELLED'),
    90_000,
  );
  expect((await stored()).map(({ tx_id: id, state, tx_hash: hash }) => [id, state, hash]).sort()).toEqual(
    [...ends].map(([id, end]) => [id, ...end]).sort(),
  );
}
