import type { NodeErrorClass } from '../../../kernel/node-error-class.js';

/** The result of sending one transaction to the network. */
export type BroadcastOutcome =
  /** In a pool or already mined. `errorClass` is set when the node answered with an error that means this. */
  | { readonly kind: 'accepted'; readonly errorClass?: 'already_known' | 'already_mined' }
  /** Every endpoint refused it or could not be reached; no endpoint has it from this send. `alone`: only one endpoint was asked. */
  | {
      readonly kind: 'rejected';
      readonly errorClass: NodeErrorClass;
      readonly message: string;
      readonly alone?: boolean;
    }
  /** No endpoint could be reached, so the request was not delivered. Earlier sends may have been. */
  | { readonly kind: 'not_sent'; readonly message: string }
  /** It may have been accepted (docs/invariants.md, I6). */
  | { readonly kind: 'unknown'; readonly errorClass: NodeErrorClass; readonly message: string };
