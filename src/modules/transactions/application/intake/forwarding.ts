import type { LeaseHolder } from '../../../signers/index.js';

/** The answer of the owner, passed on as it is. */
export interface ForwardedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Passes a request on to the node that acts for the signer. */
export abstract class Forwarding {
  /** @throws Unavailable `owner_unreachable` when the owner did not answer; the request may or may not be stored there */
  abstract forward(holder: LeaseHolder, path: string, body: unknown): Promise<ForwardedAnswer>;
  /**
   * Whether a request was forwarded by a node of this deployment, so that it is not passed on a second time.
   * @throws Unauthorized `bad_forward_signature` when it says so and cannot prove it
   */
  abstract wasForwarded(headers: Readonly<Record<string, unknown>>, body: unknown): boolean;
}
