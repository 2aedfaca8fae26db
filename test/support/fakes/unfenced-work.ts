import { type Fence, FencedUnitOfWork, type Lease } from '../../../src/modules/signers/index.js';

/** Runs work at once, without a database. The repositories of the test are fakes, and have no use for a fence. */
export class UnfencedWork extends FencedUnitOfWork {
  /** The fencing tokens under which each transaction would have run, in order. */
  readonly tokens: bigint[][] = [];

  override run<T>(leases: readonly Lease[], _operation: string, work: (fence: Fence) => Promise<T>): Promise<T> {
    this.tokens.push(leases.map(({ token }) => token));
    return work(null as unknown as Fence);
  }
}
