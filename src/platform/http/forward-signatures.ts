import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { NodeConfig } from '../../config/lockstep-config.js';
import { type Caller, limitedTo } from '../../kernel/caller.js';
import { Clock } from '../../kernel/clock.js';
import { InvalidInput } from '../../kernel/errors.js';
import { NodeIdentity } from '../../kernel/node-identity.js';
import { type ChainId, type SignerId, signerOfKey } from '../../kernel/signer-id.js';
import { limitValues } from '../database/within-limits.js';

const FROM = 'x-lockstep-forwarded-by';
const CALLER = 'x-lockstep-caller';
const AT = 'x-lockstep-forwarded-at';
const NONCE = 'x-lockstep-forward-nonce';
/** SHA-256 of the body: so the headers alone say whether a node of this deployment sent them, before a body is read. */
const BODY_HASH = 'x-lockstep-forward-body';
const SIGNATURE = 'x-lockstep-forward-signature';
/** Between the clocks of two nodes, and on the way. */
const MOST_APART_MS = 60_000;

type Headers = Readonly<Record<string, unknown>>;

/** Name, account, signers and chains. */
type SentCaller = [string, string, readonly string[] | null, readonly ChainId[] | null];

/** A request as it is sent from node to node. */
export interface ForwardedRequest {
  /** The id of the node that gets it. */
  readonly to: string;
  readonly path: string;
  readonly body: string;
  readonly caller: Caller;
}

/**
 * Signs requests that one node forwards to another, and knows them again. The HMAC, with the secret of the deployment, is of both nodes, the path, the
 * caller, a time, a nonce and the hash of the body: the receiver takes each request once, and no other node takes it.
 */
@Injectable()
export class ForwardSignatures {
  /** Nonces that came within the last one to two minutes and more than the clocks may differ. */
  private recent = new Set<string>();
  private older = new Set<string>();
  private turnedAtMs = 0;

  constructor(
    private readonly config: NodeConfig,
    private readonly node: NodeIdentity,
    private readonly clock: Clock,
  ) {}

  headersOf({ to, path, body, caller }: ForwardedRequest): Record<string, string> {
    const [from, at, nonce] = [this.node.id, String(this.clock.now().getTime()), randomUUID()];
    const { name, account, only } = caller;
    const who = encodeURIComponent(JSON.stringify([name, account, ...limitValues(only)]));
    const hash = hashOf(body);
    const signature = this.sign([from, to, path, at, nonce, who, hash]);
    return { [FROM]: from, [CALLER]: who, [AT]: at, [NONCE]: nonce, [BODY_HASH]: hash, [SIGNATURE]: signature };
  }

  /**
   * Who sent a request that another node forwarded. It may do what nodes forward, and the other node has looked at its own scopes. Its body is not
   * read yet: see {@link assertBody}.
   * @returns null when no node forwarded it
   * @throws InvalidInput `bad_forward_signature`
   */
  callerOf(headers: Headers, path: string): Caller | null {
    if (headers[FROM] === undefined) return null;
    const [from, who, at, nonce, hash, given] = [FROM, CALLER, AT, NONCE, BODY_HASH, SIGNATURE].map((header) =>
      textOf(headers[header]),
    );
    const expected = this.sign([from, this.node.id, path, at, nonce, who, hash]);
    if (!isSame(given ?? '', expected)) throw refused('the request does not come from a node of this deployment');
    if (Math.abs(Number(at) - this.clock.now().getTime()) > MOST_APART_MS)
      throw refused('the request is old, or the clocks of the nodes differ by more than a minute');
    if (!this.isFirst(nonce ?? '')) throw refused('the request came before');
    const [name, account, signers, chainIds] = JSON.parse(decodeURIComponent(who ?? '')) as SentCaller;
    const only = limitedTo(signers?.map(knownSigner) ?? null, chainIds);
    return { name, account, scopes: ['tx:write'], only, endsAt: null };
  }

  /** Of a request whose headers were taken. @throws InvalidInput `bad_forward_signature` */
  assertBody(headers: Headers, body: unknown): void {
    if (body === undefined || headers[BODY_HASH] !== hashOf(JSON.stringify(body)))
      throw refused('its body is another one');
  }

  /** A nonce is remembered for as long as its time could be taken, which is twice what the clocks may differ. */
  private isFirst(nonce: string): boolean {
    const now = this.clock.monotonicMs();
    if (now - this.turnedAtMs > 2 * MOST_APART_MS) {
      this.older = this.recent;
      this.recent = new Set();
      this.turnedAtMs = now;
    }
    if (this.recent.has(nonce) || this.older.has(nonce)) return false;
    this.recent.add(nonce);
    return true;
  }

  /** Without a secret nothing can prove the sender. */
  private sign(parts: readonly (string | undefined)[]): string {
    const secret = this.config.forwardSecret;
    return secret === undefined ? '' : createHmac('sha256', secret).update(JSON.stringify(parts)).digest('hex');
  }
}

/** Whether this is the answer of a node that did not take the signature, and so has done nothing. */
export function isRefusal({ status, body }: { readonly status: number; readonly body: string }): boolean {
  return status === 400 && body.includes('"code":"bad_forward_signature"');
}

/** A node of this deployment wrote it. */
function knownSigner(text: string): SignerId {
  const signer = signerOfKey(text);
  if (signer === null) throw refused('it names no signer');
  return signer;
}

function hashOf(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

function textOf(header: unknown): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length > 0 && left.length === right.length && timingSafeEqual(left, right);
}

function refused(reason: string): InvalidInput {
  return new InvalidInput('bad_forward_signature', `${FROM} is set, but ${reason}`, 'leave the header out');
}
