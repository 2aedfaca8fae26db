import { TooMany } from '../../../kernel/errors.js';
import type { WaitForState } from './wait-for-state.js';

/** How long a request waits for its nonce. It is stored in any case. */
const WAIT_MS = 5_000;

/** If too many requests wait, the present state is the answer. */
export async function waitForNonce(wait: WaitForState, txId: string, left?: AbortSignal): Promise<void> {
  try {
    await wait.execute(txId, 'ALLOCATED', WAIT_MS, left);
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
  }
}
