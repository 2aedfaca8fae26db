import type { Caller } from '../../../kernel/caller.js';
import type { LeaseHolder } from '../../signers/index.js';

/** The answer of the owner, returned unchanged. */
export interface ForwardedAnswer {
  readonly status: number;
  /** Of those that are the operation's: its content type, and when to come back. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request as the client sent it. */
export interface OriginalRequest {
  readonly path: string;
  readonly body: unknown;
  readonly caller: Caller;
  /** By another node: it is not forwarded a second time. */
  readonly wasForwarded: boolean;
}

/** Forwards a request to the node that acts for the signer. */
export abstract class Forwarding {
  /**
   * @returns null when the owner does not take what this node signs: it has stored nothing, and this node can serve the request itself
   * @throws Unavailable `owner_unreachable` when the owner did not answer; it may or may not have stored the request
   */
  abstract forward(holder: LeaseHolder, request: OriginalRequest): Promise<ForwardedAnswer | null>;
}
