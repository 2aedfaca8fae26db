import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { groupBy } from '../../../kernel/group-by.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { AtMost } from '../../../platform/scheduling/at-most.js';
import { endedWithin, Pauses } from '../../../platform/scheduling/pause.js';
import type { ChainConnector, GasEstimate } from '../../chain/index.js';
import { callOf } from '../../sending/index.js';
import { hashRequest, requestText, type ManagedTx, type PendingTx, type RequestedPermit } from '../../ledger/index.js';
import { RevertedEstimates } from './reverted-estimates.js';

/** What is known of the gas of one waiting payload. */
export interface Look {
  readonly gas: GasEstimate;
  readonly isProvenRevert: boolean;
  /** Whether the contracts of its permits wait for the nonces that these have; `unknown` when nobody tells. */
  readonly permits: 'right' | 'stale' | 'unknown';
}

interface Asked {
  readonly signer: string;
  /** Null while nobody has answered. */
  look: Look | null;
  readonly sinceMs: number;
}

/** A step holds the worker that its signers share: it waits this long for payloads that nothing is known against, */
const LONGEST_WAIT_MS = 2_000;
/** and this long for those that had no answer before. */
const SUSPECTS_WAIT_MS = 250;
/** Suspects of one signer that are asked at once, and of all of a chain. Each may keep a connection until a time-out. */
const SUSPECTS_AT_ONCE = 2;
const MOST_OF_CHAIN = 8;
/** After new silence about a payload of a signer, or a late ask that it shared, its payloads share no batch with those of others. */
const APART_MS = 60_000;
/** A later answer is asked for again. */
const KEPT_MS = 120_000;
/** What the contracts of permits said is asked for again after this time, without the estimate, which may take long. */
const PERMITS_KEPT_MS = 5_000;

const NO_ESTIMATE = { kind: 'unavailable', message: 'the node gave no estimate' } as const;

/**
 * Estimates waiting payloads so that no signer waits for another's (docs/invariants.md, I15, F2 and F3). A payload that had no answer is asked
 * alone, and a step does not wait for it: what comes later is kept for the step that finds the payload due again.
 */
@Injectable()
export class EstimatePending {
  private readonly asked = new Map<string, Asked>();
  /** Suspects that are asked, by chain. Signers whose steps wait no longer give their turn on. */
  private readonly suspects = new Map<ChainId, AtMost>();
  /** Until when; by signer. */
  private readonly apart = new Map<string, number>();

  constructor(
    private readonly reverted: RevertedEstimates,
    private readonly clock: Clock,
    private readonly pauses: Pauses,
  ) {}

  /**
   * @param pending all waiting payloads of the step
   * @param toAsk those of them that need an estimate
   * @returns by tx id; without those that nobody has answered yet
   */
  async execute(
    chain: ChainConnector,
    pending: readonly PendingTx[],
    toAsk: readonly PendingTx[],
  ): Promise<ReadonlyMap<string, Look>> {
    this.forgetOld();
    const open = toAsk.filter((item) => !this.asked.has(keyOf(item)));
    const suspects = open.filter(({ tx }) => isSuspect(tx));
    const fresh = open.filter(({ tx }) => !isSuspect(tx));
    const isApart = ({ tx }: PendingTx): boolean => this.apart.has(signerKey(tx.signer));
    const shared = fresh.filter((item) => !isApart(item));
    const ask = (items: readonly PendingTx[]): Promise<void> => this.ask(chain, pending, items);
    const window = { isOpen: true };
    const background = [
      ...[...ofSigners(suspects)].flatMap((own) => this.oneByOne(chain.chainId, own, window, ask)),
      ...[...ofSigners(fresh.filter(isApart))].filter((own) => this.unanswered(own) === 0).map((own) => ask(own)),
      // Nobody waits for these any more: what failed is asked again when it is due.
    ].map((look) => look.catch(() => undefined));
    if (!(await endedWithin(this.pauses.pause, LONGEST_WAIT_MS, ask(shared)))) this.separate(shared);
    await endedWithin(this.pauses.pause, SUSPECTS_WAIT_MS, Promise.all(background));
    window.isOpen = false;
    await this.renewPermits(chain, toAsk);
    return new Map(toAsk.flatMap((item) => this.take(item)));
  }

  /** Of looks that waited for this step. */
  private async renewPermits(chain: ChainConnector, items: readonly PendingTx[]): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    const isOld = ({ look, sinceMs }: Asked): boolean => look !== null && nowMs - sinceMs > PERMITS_KEPT_MS;
    const old = items.filter((item) => {
      const asked = this.asked.get(keyOf(item));
      return item.request.payload.permits && asked && isOld(asked);
    });
    if (old.length === 0) return;
    const judge = (permitsOfTx: (txId: string) => Look['permits']): void => {
      for (const item of old) {
        const asked = this.asked.get(keyOf(item));
        if (asked?.look) asked.look = { ...asked.look, permits: permitsOfTx(item.tx.id) };
      }
    };
    judge(() => 'unknown');
    const renewed = permitsOf(chain, old).then((wrong) => judge((txId) => wrong.get(txId) ?? 'right'));
    await endedWithin(
      this.pauses.pause,
      LONGEST_WAIT_MS,
      renewed.catch(() => undefined),
    );
  }

  /** A few at once, and the next ones as long as answers come in time. */
  private oneByOne(
    chainId: ChainId,
    items: PendingTx[],
    window: { readonly isOpen: boolean },
    ask: (items: readonly PendingTx[]) => Promise<void>,
  ): Promise<void>[] {
    const suspects = this.suspects.get(chainId) ?? new AtMost(MOST_OF_CHAIN);
    this.suspects.set(chainId, suspects);
    return Array.from({ length: Math.max(0, SUSPECTS_AT_ONCE - this.unanswered(items)) }, async () => {
      while (window.isOpen && items.length > 0)
        await suspects.run(async () => (window.isOpen ? ask(items.splice(0, 1)) : undefined));
    });
  }

  /** How many payloads of the signer of these are asked about. */
  private unanswered([first]: readonly PendingTx[]): number {
    const signer = first ? signerKey(first.tx.signer) : '';
    return [...this.asked.values()].filter((asked) => asked.signer === signer && asked.look === null).length;
  }

  /** Which signer it is that has no answer shows when each is asked by itself, also about these: a whole batch may take several time-outs. */
  private separate(late: readonly PendingTx[]): void {
    const untilMs = this.clock.monotonicMs() + APART_MS;
    for (const item of late) {
      this.apart.set(signerKey(item.tx.signer), untilMs);
      if (this.asked.get(keyOf(item))?.look === null) this.asked.delete(keyOf(item));
    }
  }

  private async ask(chain: ChainConnector, pending: readonly PendingTx[], items: readonly PendingTx[]): Promise<void> {
    if (items.length === 0) return;
    const sinceMs = this.clock.monotonicMs();
    for (const item of items) this.asked.set(keyOf(item), { signer: signerKey(item.tx.signer), look: null, sinceMs });
    try {
      // Together, so that a nonce is that of the moment of the estimate, which reverts with another one.
      const [estimates, permits] = await Promise.all([
        chain.estimateGas(items.map(({ request }) => callOf(request))),
        permitsOf(chain, items),
      ]);
      const gasOf = new Map(
        items.flatMap(({ tx }, i): [string, GasEstimate][] => (estimates[i] ? [[tx.id, estimates[i]]] : [])),
      );
      const unsure = await unsurePermits(
        chain,
        items.filter(({ tx }) => reverts(gasOf.get(tx.id))),
        permits,
      );
      const decided = new Map([...gasOf].filter(([txId]) => !permits.has(txId) && !unsure.has(txId)));
      const proven = await this.reverted.proven(chain, pending, decided);
      for (const item of items) {
        const { id } = item.tx;
        const gas = gasOf.get(id) ?? NO_ESTIMATE;
        this.answered(item, { gas, isProvenRevert: proven.has(id), permits: permits.get(id) ?? 'right' }, sinceMs);
      }
    } catch (error) {
      for (const item of items) this.asked.delete(keyOf(item));
      throw error;
    }
  }

  private answered(item: PendingTx, look: Look, askedAtMs: number): void {
    const signer = signerKey(item.tx.signer);
    const nowMs = this.clock.monotonicMs();
    const isSilent = look.gas.kind === 'silent' || (look.gas.kind === 'unavailable' && look.gas !== NO_ESTIMATE);
    const isNewSilence = isSilent && !isSuspect(item.tx);
    if (isNewSilence) this.apart.set(signer, nowMs + APART_MS);
    // The contracts of permits may have answered long before.
    const sinceMs = item.request.payload.permits ? askedAtMs : nowMs;
    this.asked.set(keyOf(item), { signer, look, sinceMs });
  }

  private take(item: PendingTx): [string, Look][] {
    const look = this.asked.get(keyOf(item))?.look;
    if (!look) return [];
    this.asked.delete(keyOf(item));
    return [[item.tx.id, look]];
  }

  private forgetOld(): void {
    const nowMs = this.clock.monotonicMs();
    for (const [signer, untilMs] of this.apart) if (untilMs <= nowMs) this.apart.delete(signer);
    for (const [key, { look, sinceMs }] of this.asked)
      if (look !== null && nowMs - sinceMs > KEPT_MS) this.asked.delete(key);
  }
}

/** Its last estimate had no answer, or none that is understood. */
function isSuspect({ progress: { subState } }: ManagedTx): boolean {
  return subState === 'NODE_UNAVAILABLE' || subState === 'NODE_REFUSED';
}

/** By tx id, without those whose permits are right. Asks nothing where there are none. */
async function permitsOf(
  chain: ChainConnector,
  items: readonly PendingTx[],
): Promise<ReadonlyMap<string, Look['permits']>> {
  const permits = permitsIn(items);
  const nonces = permits.length === 0 ? [] : await chain.permitNonces(permits);
  const wrong = new Map<string, Look['permits']>();
  permits.forEach(({ txId, made }, index) => {
    const next = nonces[index] ?? null;
    if (next === null) wrong.set(txId, 'unknown');
    else if (next !== made?.permitNonce && !wrong.has(txId)) wrong.set(txId, 'stale');
  });
  return wrong;
}

/** The endpoint that told the nonces may lag behind those that refuse the call. @returns ids of those whose permits the endpoints do not agree to be right */
async function unsurePermits(
  chain: ChainConnector,
  reverting: readonly PendingTx[],
  wrong: ReadonlyMap<string, Look['permits']>,
): Promise<ReadonlySet<string>> {
  const permits = permitsIn(reverting.filter(({ tx }) => !wrong.has(tx.id)));
  const nonces = permits.length === 0 ? [] : await chain.agreedPermitNonces(permits);
  return new Set(
    permits.flatMap(({ txId, made }, index) => (nonces[index]?.value === made?.permitNonce ? [] : [txId])),
  );
}

function permitsIn(items: readonly PendingTx[]): (RequestedPermit & { readonly txId: string })[] {
  return items.flatMap(({ tx, request }) =>
    (request.payload.permits ?? []).map((permit) => ({ ...permit, txId: tx.id })),
  );
}

function reverts(gas: GasEstimate | undefined): boolean {
  return gas?.kind === 'reverted' || gas?.kind === 'rejected';
}

/** A client may put another payload in its place. */
function keyOf({ tx, request }: PendingTx): string {
  return `${tx.id} ${hashRequest(requestText(request))}`;
}

function ofSigners(items: readonly PendingTx[]): Iterable<PendingTx[]> {
  return groupBy(items, ({ tx }) => signerKey(tx.signer)).values();
}
