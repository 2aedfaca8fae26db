import type { Pauses } from '../../../src/platform/scheduling/pause.js';

/** Whoever waits goes on at once. */
export const NO_REST: Pauses = { pause: () => Promise.resolve() };
