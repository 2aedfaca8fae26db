import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { endedWithin, Pauses } from '../../../platform/scheduling/pause.js';
import { Chains } from '../../chain/index.js';
import { type Fence, type Lease, LeaseManager } from '../../signers/index.js';
import { LeasedWork, PermitStore, type PermitUse, type RequestedPermit, WriteChanges } from '../../ledger/index.js';
import { MakePermit, pauseMs } from './make-permit.js';

/** What is to be written for a permit, on the worker of its owner. */
interface Step {
  readonly signer: PermitUse['signer'];
  readonly write: (lease: Lease) => Promise<unknown>;
}

/** Owners whose contract or custody is slower do not hold up the next look at the others. */
const LONGEST_WAIT_MS = 2_000;

/**
 * Brings the permits of owners forward whose leases this node has. Contracts and custodies are asked for each owner by itself, and not on the workers,
 * which others share.
 */
@Injectable()
export class TendPermits {
  /** Owners that somebody is still waiting for, by their keys. */
  private readonly busy = new Set<string>();

  constructor(
    private readonly leases: LeaseManager,
    private readonly store: PermitStore,
    private readonly work: LeasedWork,
    private readonly permits: MakePermit,
    private readonly write: WriteChanges,
    private readonly chains: Chains,
    private readonly pauses: Pauses,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const owners = this.leases.heldOn(chainId).map((lease) => lease.signer);
    const free = owners.filter((owner) => !this.busy.has(signerKey(owner)));
    if (free.length === 0) return;
    const uses = groupBy(await this.store.open(chainId, free), ({ signer }) => signerKey(signer));
    const tended = [...uses].map(([owner, own]) => this.tend(chainId, owner, own));
    await endedWithin(this.pauses.pause, LONGEST_WAIT_MS, Promise.all(tended));
  }

  private async tend(chainId: ChainId, owner: string, uses: readonly PermitUse[]): Promise<void> {
    this.busy.add(owner);
    try {
      const questions = uses.map(({ contract, signer }) => ({ contract, owner: signer.address }));
      const nonces = await this.chains.get(chainId).permitNonces(questions);
      const steps: Step[] = [];
      for (const [index, use] of uses.entries()) {
        const write = await this.stepOf(use, nonces[index] ?? null);
        if (write) steps.push({ signer: use.signer, write });
      }
      await this.work.run(chainId, steps, async ([lease], share) => {
        for (const { write } of share) if (lease) await write(lease);
      });
    } finally {
      this.busy.delete(owner);
    }
  }

  /** @param next nonce of the owner at the contract; null when nobody tells it */
  private async stepOf(use: PermitUse, next: bigint | null): Promise<Step['write'] | null> {
    const { stage, permit, permitNonce } = use;
    switch (stage) {
      case 'wanted':
        if (next === null) await this.store.postpone(use, pauseMs(use));
        return permit && next !== null ? this.making(use, permit, next) : null;
      case 'made':
        // A nonce that another one has is refused where it is stored.
        return permit && next !== null && (next !== permitNonce || isHalfOver(use, permit))
          ? this.making(use, permit, next)
          : null;
      case 'overdue':
        return (lease) => this.underFence(lease, (fence) => this.store.withdraw(fence, use, pauseMs(use)));
      case 'ended':
        if (permitNonce !== null && next === null) return null;
        return (lease) =>
          this.underFence(lease, (fence) => this.store.end(fence, use, (next ?? 0n) > (permitNonce ?? 0n)));
    }
  }

  private async making(use: PermitUse, permit: RequestedPermit, next: bigint): Promise<Step['write'] | null> {
    const signed = await this.permits.sign(use, permit, next);
    return signed && ((lease) => this.permits.give(lease, use, signed));
  }

  private async underFence(lease: Lease, change: (fence: Fence) => Promise<boolean>): Promise<void> {
    await this.write.underFence([lease], 'end_permit', async (fence) => {
      await change(fence);
      return {};
    });
  }
}

function isHalfOver({ now }: PermitUse, { made, ttl }: RequestedPermit): boolean {
  return made !== undefined && (made.deadline - now) * 2n < BigInt(ttl);
}
