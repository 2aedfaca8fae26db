import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../kernel/clock.js';
import { groupBy } from '../../../../kernel/group-by.js';
import { inSlices } from '../../../../kernel/in-slices.js';
import { type ChainId, signerKey, type SignerId } from '../../../../kernel/signer-id.js';
import { Log } from '../../../../platform/logging/log.js';
import {
  type Lease,
  LeaseLost,
  LeaseManager,
  leasesFor,
  SignerBackoff,
  SignerWorkers,
} from '../../../signers/index.js';
import { bisectOnFailure } from '../../../../platform/scheduling/bisect-on-failure.js';
import { LaneMemory } from './lane-memory.js';
import { isolateFailures } from '../../../../platform/scheduling/isolate-failures.js';

/** Items of one task: what is written for them in one statement stays far below `database.statementTimeout`. */
const AT_ONCE = 1_000;

interface OfSigner {
  readonly signer: SignerId;
}

type Task<Item> = (leases: readonly Lease[], items: readonly Item[]) => Promise<void>;

/** Work of this node for signers it holds, on the signers' own workers, so that a lane and the followers never interleave. */
@Injectable()
export class LeasedWork {
  private readonly troubled = new SignerBackoff();

  constructor(
    private readonly workers: SignerWorkers,
    private readonly leases: LeaseManager,
    private readonly memory: LaneMemory,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Runs `task` once per worker with its share of the items, or more often: a big share in parts, and what failed in smaller ones.
   * Items of signers that are not ours (any more) are left out: their owner does the same work.
   *
   * @returns items that failed although others succeeded, and those of signers that have a pause for that; for a later try
   * @throws when nothing of a worker's share succeeded
   */
  async run<Item extends OfSigner>(chainId: ChainId, items: readonly Item[], task: Task<Item>): Promise<Item[]> {
    if (items.length === 0) return [];
    const left: Item[] = [];
    await this.workers.forChain(chainId).runGrouped(
      [...items],
      (item) => signerKey(item.signer),
      async (share) => void left.push(...(await this.runShare(share, task))),
    );
    return left;
  }

  private async runShare<Item extends OfSigner>(share: readonly Item[], task: Task<Item>): Promise<Item[]> {
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

  private async runHeld<Item extends OfSigner>(share: readonly Item[], task: Task<Item>): Promise<void> {
    for (const part of inSlices(share, AT_ONCE)) await this.runPart(part, task);
  }

  private async runPart<Item extends OfSigner>(part: readonly Item[], task: Task<Item>): Promise<void> {
    const held = new Map<string, Lease>();
    for (const { signer } of part) {
      const lease = this.leases.held(signer);
      if (lease) held.set(signerKey(signer), lease);
    }
    const ours = part.filter(({ signer }) => held.has(signerKey(signer)));
    try {
      // One item that cannot be written must not keep the whole chain from being followed.
      await bisectOnFailure(
        ours,
        async (piece) => {
          await task(
            leasesFor(
              [...held.values()],
              piece.map(({ signer }) => signer),
            ),
            piece,
          );
          return [];
        },
        async ({ signer }, error) => this.log.error('work for a signer failed', { signer: signerKey(signer), error }),
      );
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      this.leases.lost(error);
      this.memory.forget(error.leases.map(({ signer }) => signer));
      // The others are still ours: the part shrinks by what was lost.
      await this.runPart(part, task);
    }
  }
}
