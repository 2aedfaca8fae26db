import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Tx } from '../../../src/kernel/unit-of-work.js';
import { SignersInDoubt } from '../../../src/modules/lost-commits/index.js';
import { fakeOf } from './fake-of.js';

/** Signers whose waiting txs may have been sent, as a test says. */
export class FakeDoubt {
  readonly signers = new Set<string>();
  /** So many database transactions have a new connection. */
  reconnects = 0;
  looks = 0;

  async look(): Promise<void> {
    this.looks += 1;
  }

  async among(_: Tx, signers: readonly SignerId[]): Promise<ReadonlySet<string> | null> {
    if (this.reconnects > 0) {
      this.reconnects -= 1;
      return null;
    }
    return new Set(signers.map(signerKey).filter((key) => this.signers.has(key)));
  }

  asPort(): SignersInDoubt {
    return fakeOf(SignersInDoubt, this);
  }
}
