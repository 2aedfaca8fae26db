import type { Seen } from '../seen.js';
import type { SimChain } from '../sim-chain.js';
import type { Curses } from './curses.js';
import type { Headers, StatusOf } from './encode.js';
import type { Luck } from './luck.js';
import type { Needs } from './needs.js';

/** How likely each fault is while faults are on, at each endpoint for itself. */
export interface FaultRates {
  readonly lostRequest: number;
  readonly lostAnswer: number;
  readonly refusedForNow: number;
  readonly noReceipt: number;
  readonly noEstimate: number;
  /** A block is made by somebody who may have another transaction for a nonce than the pools kept. */
  readonly otherRival: number;
}

export const NO_FAULTS: FaultRates = {
  lostRequest: 0,
  lostAnswer: 0,
  refusedForNow: 0,
  noReceipt: 0,
  noEstimate: 0,
  otherRival: 0.6,
};

/** What all endpoints share. */
export interface Surroundings {
  readonly chain: SimChain;
  readonly curses: Curses;
  readonly needs: Needs;
  /** Calldata whose estimate never comes. */
  readonly hanging: ReadonlySet<string>;
  readonly luck: Luck;
  readonly headers: Headers;
  readonly statusOf: StatusOf;
  readonly rates: FaultRates;
  readonly seen: Seen;
  /** Whether nothing can be sent to any other endpoint now. */
  isAlone(endpoint: number): boolean;
}
