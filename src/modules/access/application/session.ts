import type { Caller } from '../../../kernel/caller.js';

/** Who sent a request, for as long as its key or token lasts. */
export interface Session {
  readonly caller: Caller;
  /** Whether the key or the token may still be used. */
  readonly isLive: () => boolean;
}
