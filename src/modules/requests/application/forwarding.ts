import type { LeaseHolder } from '../../signers/index.js';

/** The answer of the owner, returned unchanged. */
export interface ForwardedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Forwards a request to the node that acts for the signer. */
export abstract class Forwarding {
  /** @throws Unavailable `owner_unreachable` when the owner did not answer; it may or may not have stored the request */
  abstract forward(holder: LeaseHolder, path: string, body: unknown): Promise<ForwardedAnswer>;
  /**
   * Whether a node of this deployment forwarded the request, so that it is not forwarded a second time.
   * @throws Unauthorized `bad_forward_signature` when the header is set and its signature is wrong
   */
  abstract wasForwarded(headers: Readonly<Record<string, unknown>>, body: unknown): boolean;
}
