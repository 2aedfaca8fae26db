import { inspect } from 'node:util';
import { Unavailable } from '../../src/kernel/errors.js';
import { LeaseLost } from '../../src/modules/signers/index.js';
import { CommitsLost } from '../../src/modules/lost-commits/application/committed-cursors.js';
import { DatabaseUnavailable } from '../../src/platform/database/database-errors.js';
import { type Gate, NodeDied } from './gate.js';
import type { SimChain } from './sim-chain.js';
import { Violation } from './violation.js';

/** Whether anything is wrong with the endpoints, or may be. */
export interface Faults {
  on: boolean;
  /** Whether the database has lost commits. */
  losesCommits: boolean;
}

/** Says whether something that the simulation did explains an error of a node's work; any other is a fault of the product. */
export class Excuses {
  constructor(
    private readonly gate: Gate,
    private readonly faults: Faults,
    private readonly chain: SimChain,
    private readonly found: Violation[],
  ) {}

  judge(error: unknown, where: string): void {
    if (this.excuse(error)) return;
    this.found.push(new Violation('job', `${where}, and nothing explains it: ${inspect(error)}`));
  }

  /** Another transaction with its nonce was final before, so what it belongs to may have ended: the known exception of I8. */
  excuseMined(txHash: string): boolean {
    return this.faults.losesCommits || this.chain.hadFinalRival(txHash);
  }

  private excuse(error: unknown): boolean {
    if (error instanceof AggregateError) return error.errors.every((each) => this.excuse(each));
    if (this.gate.injected.has(error)) return true;
    if (error instanceof NodeDied) return this.gate.isDead;
    if (error instanceof DatabaseUnavailable) return this.excuse(error.cause);
    // A lost lease ends the work for its signer, and is no error of it.
    if (error instanceof LeaseLost) return false;
    if (error instanceof CommitsLost) return this.faults.losesCommits;
    return error instanceof Unavailable && this.faults.on;
  }
}
