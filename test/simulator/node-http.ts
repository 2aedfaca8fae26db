import { type Hash, parseHex } from '../../src/kernel/hex.js';
import { actionOf } from '../../src/modules/chain/index.js';
import type { HttpAnswer, HttpPost } from '../../src/modules/chain/infrastructure/rpc/http-post.js';
import type { Gate } from './gate.js';
import type { Call } from './network/methods.js';
import { classOfSend } from './network/refusal-texts.js';
import { callsIn, type SimEndpoint, TOO_LARGE } from './network/sim-endpoint.js';
import type { SentLog } from './sent-log.js';

/** Asked in the background, also of endpoints that nobody waits for: a mishap there would be nobody's. */
const BACKGROUND: ReadonlySet<string> = new Set(['eth_chainId', 'eth_blockNumber']);
const SEND = 'eth_sendRawTransaction';

interface Item {
  readonly call: Call;
  readonly hash: Hash;
}

/** The wire between one node and one endpoint, with the node's gate before every question and after every answer. */
export class NodeHttp implements HttpPost {
  private generation: number;

  constructor(
    private readonly endpoint: SimEndpoint,
    private readonly nodeId: string,
    private readonly gate: Gate,
    private readonly log: SentLog,
  ) {
    this.generation = endpoint.generation;
  }

  async post(body: string): Promise<HttpAnswer> {
    const calls = callsIn(body);
    const method = calls[0]?.method ?? 'nothing';
    if (BACKGROUND.has(method)) return this.exchange(body);
    const place = method === SEND ? 'a broadcast' : method;
    const sends = calls.flatMap((call): Item[] => (call.method === SEND ? [{ call, hash: this.hashOf(call) }] : []));
    await this.pass(`before ${place}`);
    const answer = await this.gate.during(async () => {
      const sender = this.gate.wasHeld ? null : this.nodeId;
      if (sends.length > 0)
        await this.log.aboutToSend(
          sends.map(({ hash }) => hash),
          sender,
        );
      return this.send(body, calls, sends);
    });
    await this.pass(`after ${place}`);
    this.note(sends, answer);
    return answer;
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  private send(body: string, calls: readonly Call[], sends: readonly Item[]): HttpAnswer {
    if (!this.endpoint.refuses(calls)) for (const { hash } of sends) this.log.left(hash);
    return this.exchange(body);
  }

  /** Another node may be behind the URL now: what was open breaks. */
  private exchange(body: string): HttpAnswer {
    if (this.generation !== this.endpoint.generation) {
      this.generation = this.endpoint.generation;
      throw Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
    }
    return this.endpoint.receive(body);
  }

  /** What the node now knows that this endpoint does not have. */
  private note(sends: readonly Item[], { statusCode, text }: HttpAnswer): void {
    if (sends.length === 0 || statusCode >= 500 || statusCode === 429) return;
    const said = statusCode === 413 ? [] : answersIn(text);
    const whole =
      statusCode === 413 || (sends.length > 1 && said.length === 1 && said[0]?.error?.message === TOO_LARGE);
    const answers = new Map(said.map(({ id, error }) => [id, error]));
    for (const { call, hash } of sends) {
      const error = answers.get(call.id);
      if (whole || (error && isRefusal(error))) this.log.refused(hash);
    }
  }

  private hashOf({ params }: Call): Hash {
    return this.endpoint.network.chain.decode(parseHex(String(params[0]))).hash;
  }

  private pass(place: string): Promise<void> {
    const failure = (): Error => Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' });
    return this.gate.pass(place, false, failure);
  }
}

interface NodeSaid {
  readonly id: number;
  readonly error?: { readonly code: number; readonly message: string };
}

function answersIn(text: string): NodeSaid[] {
  return [JSON.parse(text) as NodeSaid | readonly NodeSaid[]].flat();
}

function isRefusal({ code, message }: { readonly code: number; readonly message: string }): boolean {
  return actionOf(classOfSend(message, code)).outcome === 'rejected';
}
