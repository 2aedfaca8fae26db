import type { NodeErrorClass } from '../../../kernel/node-error-class.js';

/** What is known after a transaction was sent to the network. */
export type BroadcastOutcome =
  /** In a pool or already mined; `errorClass` is set when the node said so by way of an error. */
  | { readonly kind: 'accepted'; readonly errorClass?: 'already_known' | 'already_mined' }
  /** Every endpoint that was asked refused it, or could not be reached; none can have it from this send. `alone`: only one was asked. */
  | {
      readonly kind: 'rejected';
      readonly errorClass: NodeErrorClass;
      readonly message: string;
      readonly alone?: boolean;
    }
  /** It surely never left: no endpoint could be reached. Says nothing about earlier sends. */
  | { readonly kind: 'not_sent'; readonly message: string }
  /** It may have been accepted (I6). */
  | { readonly kind: 'unknown'; readonly errorClass: NodeErrorClass; readonly message: string };
