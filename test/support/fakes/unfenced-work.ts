import { type Fence, FencedUnitOfWork, type Lease } from '../../../src/modules/signers/index.js';

/** Runs work at once, without a database. The repositories of the test are fakes, and have no use for a fence. */
export class UnfencedWork extends FencedUnitOfWork {
  override run<T>(_leases: readonly Lease[], _operation: string, work: (fence: Fence) => Promise<T>): Promise<T> {
    return work(null as unknown as Fence);
  }
}
