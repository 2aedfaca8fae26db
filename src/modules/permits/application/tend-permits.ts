import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { endedWithin, Pauses } from '../../../platform/scheduling/pause.js';
import { Portion } from '../../../platform/scheduling/portion.js';
import {
  type Agreed,
  type ChainConnector,
  Chains,
  type PermitNonceQuestion,
  SecondObservations,
} from '../../chain/index.js';
import { type Fence, type Lease, LeaseManager } from '../../signers/index.js';
import {
  LeasedWork,
  PERMIT_OVER_S,
  PermitStore,
  type PermitUse,
  type RequestedPermit,
  WriteChanges,
} from '../../ledger/index.js';
import { MakePermit, pauseMs } from './make-permit.js';

/** What is to be written for a permit, on the worker of its owner. */
interface Step {
  readonly signer: PermitUse['signer'];
  readonly write: (lease: Lease) => Promise<unknown>;
}

/** Owners whose permits one statement reads. */
const MOST_OWNERS = 500;

/** The pauses before the next try to end one grow with so many tries at most, less than a minute: others may wait for its nonce. */
const MOST_END_TRIES = 3;

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
  private readonly portion = new Portion(MOST_OWNERS);

  constructor(
    private readonly leases: LeaseManager,
    private readonly store: PermitStore,
    private readonly work: LeasedWork,
    private readonly permits: MakePermit,
    private readonly write: WriteChanges,
    private readonly chains: Chains,
    private readonly pauses: Pauses,
    private readonly observations: SecondObservations,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const owners = this.leases.heldOn(chainId).map((lease) => lease.signer);
    const free = owners.filter((owner) => !this.busy.has(signerKey(owner)));
    if (free.length === 0) return;
    const { uses, failures } = await this.openOf(chainId, free);
    const byOwner = groupBy(uses, ({ signer }) => signerKey(signer));
    const tended = [...byOwner].map(([owner, own]) => this.tend(chainId, owner, own));
    await endedWithin(this.pauses.pause, LONGEST_WAIT_MS, Promise.all(tended));
    if (failures.length > 0) throw failures[0];
  }

  /** What is too slow for some owners does not hold up the others. */
  private async openOf(
    chainId: ChainId,
    owners: readonly SignerId[],
  ): Promise<{ readonly uses: readonly PermitUse[]; readonly failures: readonly unknown[] }> {
    const uses: PermitUse[] = [];
    const failures: unknown[] = [];
    let read: number;
    for (let from = 0; from < owners.length; from += read) {
      read = this.portion.size;
      const some = owners.slice(from, from + read);
      try {
        uses.push(...(await this.portion.take(() => this.store.open(chainId, some))));
      } catch (error) {
        failures.push(error);
      }
    }
    return { uses, failures };
  }

  private async tend(chainId: ChainId, owner: string, open: readonly PermitUse[]): Promise<void> {
    this.busy.add(owner);
    try {
      const uses = oneOfEachContract(open);
      const nonces = await this.noncesOf(chainId, uses);
      const steps: Step[] = [];
      for (const use of uses) {
        const write = await this.stepOf(use, nonces.get(use) ?? null);
        if (write) steps.push({ signer: use.signer, write });
      }
      await this.work.run(chainId, steps, async ([lease], share) => {
        for (const { write } of share) if (lease) await write(lease);
      });
    } finally {
      this.busy.delete(owner);
    }
  }

  /** One endpoint says with which nonce a permit is made: the write, and the estimate of its payload, find out that it is wrong. Nothing does when one has ended. */
  private async noncesOf(chainId: ChainId, uses: readonly PermitUse[]): Promise<ReadonlyMap<PermitUse, bigint | null>> {
    const chain = this.chains.get(chainId);
    const ended = uses.filter(({ stage, permitNonce }) => stage === 'ended' && permitNonce !== null);
    const others = uses.filter(({ stage }) => stage === 'wanted' || stage === 'made');
    const ask = ({ contract, signer }: PermitUse): PermitNonceQuestion => ({ contract, owner: signer.address });
    const told = [
      ...(others.length === 0 ? [] : await chain.permitNonces(others.map(ask))),
      ...(ended.length === 0 ? [] : await this.agreedOf(chain, ended, await chain.agreedPermitNonces(ended.map(ask)))),
    ];
    return new Map([...others, ...ended].map((use, index) => [use, told[index] ?? null]));
  }

  /** Null also for what one endpoint tells alone, until it tells it again at a later block. */
  private async agreedOf(
    chain: ChainConnector,
    uses: readonly PermitUse[],
    told: readonly (Agreed<bigint> | null)[],
  ): Promise<(bigint | null)[]> {
    const block = told.some((answer) => answer?.isAlone) ? await chain.head() : null;
    return uses.map(({ id }, index) => {
      const { value, isAlone } = told[index] ?? {};
      if (value === undefined) return null;
      return !isAlone || (block && this.observations.agree('judge_permit', `permit ${id}`, value.toString(), block))
        ? value
        : null;
    });
  }

  /** @param next nonce of the owner at the contract; null when nobody tells it */
  private async stepOf(use: PermitUse, next: bigint | null): Promise<Step['write'] | null> {
    const { stage, permit, permitNonce } = use;
    if (stage === 'overdue')
      return (lease) => this.underFence(lease, (fence) => this.store.withdraw(fence, use, pauseMs(use)));
    if (stage === 'over' && (await this.isOver(use)))
      return (lease) => this.underFence(lease, (fence) => this.store.lapse(fence, use));
    if (stage === 'ended' && (permitNonce === null || next !== null || (await this.isOver(use)))) {
      const isUsed = (next ?? 0n) > (permitNonce ?? 0n);
      return (lease) => this.underFence(lease, (fence) => this.store.end(fence, use, isUsed));
    }
    if (next === null) {
      await this.store.postpone(
        use,
        pauseMs(stage === 'ended' || stage === 'over' ? { ...use, tries: Math.min(use.tries, MOST_END_TRIES) } : use),
      );
      return null;
    }
    // Of one that was made. A nonce that another one has is refused where it is stored.
    const isRight = stage === 'made' && permit !== null && next === permitNonce && !isHalfOver(use, permit);
    return permit === null || isRight ? null : this.making(use, permit, next);
  }

  /** No block takes it any more, whatever its contract says. */
  private async isOver({ signer, deadline }: PermitUse): Promise<boolean> {
    const { timestamp } = await this.chains.get(signer.chainId).head();
    return timestamp !== null && deadline !== null && BigInt(timestamp) > deadline + BigInt(PERMIT_OVER_S);
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

/** All that are wanted of one contract would be signed with one nonce. The oldest comes first. */
function oneOfEachContract(uses: readonly PermitUse[]): PermitUse[] {
  const isWanted = ({ stage }: PermitUse): boolean => stage === 'wanted';
  const first = new Map(
    uses
      .filter(isWanted)
      .map((use) => [use.contract, use])
      .reverse() as [string, PermitUse][],
  );
  return uses.filter((use) => !isWanted(use) || first.get(use.contract) === use);
}

function isHalfOver({ now }: PermitUse, { made, ttl }: RequestedPermit): boolean {
  return made !== undefined && (made.deadline - now) * 2n < BigInt(ttl);
}
