import {
  type Lease,
  LeaseLost,
  LeaseManager,
  leasesFor,
  NodeRegistry,
  NotLeader,
  SignerBackoff,
  SignerWorkers,
} from '../../../signers/index.js';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../kernel/clock.js';
import { groupBy } from '../../../../kernel/group-by.js';
import { inSlices } from '../../../../kernel/in-slices.js';
import { type ChainId, signerKey, type SignerId } from '../../../../kernel/signer-id.js';
import { Log } from '../../../../platform/logging/log.js';
import { bisectOnFailure } from '../../../../platform/scheduling/bisect-on-failure.js';
import { LaneMemory } from './lane-memory.js';
import { isolateFailures } from '../../../../platform/scheduling/isolate-failures.js';

/** Items of one task: one statement that writes them stays far below `database.statementTimeout`. */
const MAX_PART_ITEMS = 1_000;

/** An item of work for one signer. */
export interface OfSigner {
  readonly signer: SignerId;
}

/** Work for the items of one worker, with the leases of their signers. */
export type LeasedTask<Item> = (leases: readonly Lease[], items: readonly Item[]) => Promise<void>;

/**
 * Runs work for the signers that this node holds on the workers of these signers, so that it never interleaves with a lane step of the same
 * signer.
 */
@Injectable()
export class LeasedWork {
  private readonly troubled = new SignerBackoff();

  constructor(
    private readonly workers: SignerWorkers,
    private readonly leases: LeaseManager,
    private readonly nodes: NodeRegistry,
    private readonly memory: LaneMemory,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Runs `task` for the items of each worker, at least once per worker: many items are split into parts, and parts that fail into smaller
   * ones. Leaves out items of signers that this node does not hold: their owner does the same work.
   * @returns items to try again later: those that failed while others succeeded, and those of signers in a pause after such a failure
   * @throws when all items of a worker failed
   */
  async run<Item extends OfSigner>(chainId: ChainId, items: readonly Item[], task: LeasedTask<Item>): Promise<Item[]> {
    if (items.length === 0) return [];
    const left: Item[] = [];
    await this.workers.forChain(chainId).runGrouped(
      [...items],
      (item) => signerKey(item.signer),
      async (share) => void left.push(...(await this.runShare(share, task))),
    );
    return left;
  }

  /**
   * Runs `task` for one signer, between two of its lane steps.
   * @throws NotLeader when another node acts for the signer
   */
  asOwner<T>(signer: SignerId, task: (lease: Lease) => Promise<T>): Promise<T> {
    return this.workers.forChain(signer.chainId).run(signerKey(signer), async () => {
      const [lease] = await this.leases.acquireOrRenew([signer]);
      if (!lease) throw new NotLeader(signer, await this.nodes.holderOf(signer));
      return task(lease);
    });
  }

  private async runShare<Item extends OfSigner>(share: readonly Item[], task: LeasedTask<Item>): Promise<Item[]> {
    const now = this.clock.monotonicMs();
    const bySigner = [...groupBy(share, ({ signer }) => signerKey(signer)).values()];
    const isKnown = ([first]: readonly Item[]): boolean => first !== undefined && this.troubled.has(first.signer);
    const isPaused = ([first]: readonly Item[]): boolean =>
      first !== undefined && this.troubled.isPaused(first.signer, now);
    const left = bySigner.filter(isPaused);
    const failures = await isolateFailures(
      bySigner.filter((own) => !isKnown(own)),
      (some) => this.runHeld(some.flat(), task),
    );
    for (const { item, error } of failures) left.push(this.failed(item, error));
    for (const own of bySigner.filter((some) => isKnown(some) && !isPaused(some))) {
      try {
        await this.runHeld(own, task);
        this.troubled.succeeded(own.map(({ signer }) => signer));
      } catch (error) {
        left.push(this.failed(own, error));
      }
    }
    return left.flat();
  }

  private failed<Item extends OfSigner>(own: Item[], error: unknown): Item[] {
    const [first] = own;
    if (first) {
      this.troubled.failed(first.signer, this.clock.monotonicMs());
      this.log.error('work for a signer failed', { signer: signerKey(first.signer), items: own.length, error });
    }
    return own;
  }

  private async runHeld<Item extends OfSigner>(share: readonly Item[], task: LeasedTask<Item>): Promise<void> {
    for (const part of inSlices(share, MAX_PART_ITEMS)) await this.runPart(part, task);
  }

  private async runPart<Item extends OfSigner>(part: readonly Item[], task: LeasedTask<Item>): Promise<void> {
    const held = new Map<string, Lease>();
    for (const { signer } of part) {
      const lease = this.leases.held(signer);
      if (lease) held.set(signerKey(signer), lease);
    }
    const ours = part.filter(({ signer }) => held.has(signerKey(signer)));
    try {
      // One item that cannot be written must not stop the others of the chain.
      await bisectOnFailure(
        ours,
        async (half) => {
          await task(
            leasesFor(
              [...held.values()],
              half.map(({ signer }) => signer),
            ),
            half,
          );
          return [];
        },
        async ({ signer }, error) => this.log.error('work for a signer failed', { signer: signerKey(signer), error }),
      );
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      this.leases.lost(error);
      this.memory.forget(error.leases.map(({ signer }) => signer));
      // The other items still belong to this node, and the part now leaves out those of the lost leases.
      await this.runPart(part, task);
    }
  }
}
