import type { Hash } from '../../src/kernel/hex.js';
import type { HttpAnswer, HttpPost } from '../../src/modules/chain/infrastructure/rpc/http-post.js';
import type { Call } from '../simulator/network/methods.js';
import { callsIn, type SimEndpoint } from '../simulator/network/sim-endpoint.js';
import type { VirtualTime } from './virtual-time.js';

/** What is wrong with everything of one actor. */
export type Poison = 'hangs' | 'refuses' | 'reverts' | 'unfunded' | 'paused' | 'malformed' | 'slow';

export const TIMEOUT_MS = 10_000;
const LATENCY_MS = 50;
const SLOW_MS = 4_000;
/** As of the product's client (`http-post.ts`). */
const CONNECTIONS = 16;
const SEND = 'eth_sendRawTransaction';
/** Calls about one item: what is asked about an account is no item of a list. */
const ABOUT_ITEMS: ReadonlySet<string> = new Set([
  SEND,
  'eth_estimateGas',
  'eth_getTransactionReceipt',
  'eth_getTransactionByHash',
]);

type Verdict = 'answer' | 'hang' | 'slow' | Readonly<Record<string, unknown>>;

/** Stands for the bytes and for the hash of what is only said to be signed: who sent it is written in it. */
export function markOf(actor: number, n: number): Hash {
  return `0xfa${actor.toString(16).padStart(4, '0')}${n.toString(16).padStart(58, '0')}` as Hash;
}

/** The wire to one endpoint, which answers calls of one actor badly, in virtual time. */
export class PoisonedWire implements HttpPost {
  poison: Poison | null = null;
  /** Round trips with a call that concerns one of the others. */
  ofOthers = 0;
  /** Hashes of what was sent, in order. */
  readonly sent: string[] = [];
  private readonly senders = new Map<string, string>();
  private open = 0;
  private readonly queue: (() => void)[] = [];

  /** @param actors addresses; the first one has the poison */
  constructor(
    private readonly endpoint: SimEndpoint,
    private readonly time: VirtualTime,
    private readonly actors: () => readonly string[],
  ) {}

  async post(body: string, timeoutMs = TIMEOUT_MS): Promise<HttpAnswer> {
    if (this.open >= CONNECTIONS) await new Promise<void>((go) => this.queue.push(go));
    else this.open += 1;
    try {
      return await this.exchange(body, timeoutMs);
    } finally {
      const next = this.queue.shift();
      if (next) next();
      else this.open -= 1;
    }
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  private async exchange(body: string, timeoutMs: number): Promise<HttpAnswer> {
    const calls = callsIn(body);
    const [poor, ...others] = this.actors();
    const actors = calls.map((call) => this.actorOf(call));
    if (actors.some((actor) => others.includes(actor))) this.ofOthers += 1;
    const verdicts = calls.map((call, at) => (actors[at] === poor ? this.verdict(call) : 'answer'));
    const takesMs = verdicts.includes('hang') ? Infinity : verdicts.includes('slow') ? SLOW_MS : LATENCY_MS;
    await this.time.sleep(Math.min(takesMs, timeoutMs));
    if (takesMs > timeoutMs) throw Object.assign(new Error('the operation timed out'), { name: 'TimeoutError' });
    const answers = calls.flatMap((call, at): unknown[] => {
      const verdict = verdicts[at];
      if (typeof verdict === 'object') return [{ jsonrpc: '2.0', id: call.id, ...verdict }];
      return this.answer(call);
    });
    return {
      statusCode: 200,
      retryAfter: undefined,
      text: JSON.stringify(body.startsWith('[') ? answers : answers[0]),
    };
  }

  private answer(call: Call): unknown[] {
    const [raw] = call.params;
    if (call.method === SEND) this.sent.push(String(raw));
    // Bytes that nobody can read: the mark of what is only said to be signed.
    if (call.method === SEND && String(raw).length === 66) return [{ jsonrpc: '2.0', id: call.id, result: raw }];
    const { text } = this.endpoint.receive(JSON.stringify(call));
    return [JSON.parse(text)];
  }

  private actorOf({ method, params }: Call): string {
    const [first] = params;
    if (method === 'eth_estimateGas') return (first as { readonly from: string }).from;
    const text = String(first);
    if (text.startsWith('0xfa') && text.length === 66)
      return this.actors()[Number.parseInt(text.slice(4, 8), 16)] ?? '';
    if (method === SEND) {
      const { hash, from } = this.endpoint.network.chain.decode(text as Hash);
      this.senders.set(hash, from);
      return from;
    }
    return this.senders.get(text) ?? text;
  }

  private verdict({ method }: Call): Verdict {
    if (!ABOUT_ITEMS.has(method)) return 'answer';
    switch (this.poison) {
      case 'hangs':
        return 'hang';
      case 'slow':
        return 'slow';
      case 'malformed':
        return { result: { what: 'is this' } };
      case 'refuses':
        return { error: { code: -32000, message: 'not allowed by the policy of this node' } };
      case 'reverts':
        return method === 'eth_estimateGas' ? { error: { code: 3, message: 'execution reverted: never' } } : 'answer';
      case 'unfunded':
        return method === 'eth_estimateGas' || method === SEND
          ? { error: { code: -32000, message: 'insufficient funds for gas * price + value: balance 0' } }
          : 'answer';
      case 'paused':
      case null:
        return 'answer';
    }
  }
}
