import type { BatchLimits, EncodedCall } from './batch-limits.js';
import { failed, type RpcFailure, type RpcReply } from './json-rpc.js';
import type { BatchAnswer } from './json-rpc-round-trip.js';
import { isCut, isRateLimit, isSilence, wasTooSlow } from './silence.js';

/** How one endpoint is asked. */
export interface Asking {
  readonly limits: BatchLimits;
  readonly send: (batch: readonly EncodedCall[]) => Promise<BatchAnswer>;
  /** Whether the endpoint answers a call that costs it nothing. */
  readonly isAlive: () => Promise<boolean>;
  /** After a lost connection: whether the chain that answers at the URL is the one from before. */
  readonly isSameChain: () => Promise<boolean>;
  /** Batches at once; with 1 the endpoint gets the calls in their order. */
  readonly atOnce: number;
}

/**
 * Round trips without an answer after which no more batches are sent: each may cost a time-out. The smaller limit is kept, so the next ask
 * goes on from there.
 */
const PATIENCE = 4;

/**
 * Asks one endpoint for many calls in few batches, and finds the call that spoils a batch (docs/invariants.md, I15, F2). A batch that is refused
 * as too large, or gets no answer while the endpoint answers something else, is sent again in halves, down to single calls. An endpoint
 * that answers nothing else is not asked on. Every user of a batch comes through here.
 */
export class BatchedAsk {
  private readonly replies = new Map<number, RpcReply>();
  /** Calls of batches that were refused as a whole: what refuses a batch in words may have passed it on. */
  private readonly mayBeThere = new Set<number>();
  private readonly waiting: (readonly EncodedCall[])[] = [];
  /** Also trips whose connection was lost. */
  private silentTrips = 0;
  private isDead = false;

  constructor(private readonly asking: Asking) {}

  /** @returns replies in the order of the calls */
  async execute(calls: readonly EncodedCall[]): Promise<RpcReply[]> {
    this.waiting.push(...this.asking.limits.slices(calls, this.asking.atOnce > 1));
    await Promise.all(Array.from({ length: this.asking.atOnce }, () => this.work()));
    return calls.map(({ id }) => this.replyTo(id));
  }

  private async work(): Promise<void> {
    while (!this.isDead && this.silentTrips < PATIENCE) {
      const batch = this.waiting.shift();
      if (batch === undefined) return;
      await this.ask(batch);
    }
  }

  private async ask(batch: readonly EncodedCall[]): Promise<void> {
    const { limits, send } = this.asking;
    const answer = await send(batch);
    if (answer.kind === 'refused') {
      this.refused(batch, answer.refusal);
      return;
    }
    const isTooLarge = batch.length > 1 && answer.replies.some(isCut);
    const silent = batch.filter((_, i) => isSilence(answer.replies[i]) || (isTooLarge && isCut(answer.replies[i])));
    const isAgain = silent.some(({ id }) => this.replies.has(id));
    for (const [i, { id }] of batch.entries()) this.answered(id, answer.replies[i]);
    if (answer.replies.every(isRateLimit)) this.limited(batch);
    else if (answer.replies.some((reply) => reply.kind === 'failed' && reply.failure.reason === 'connection'))
      await this.lost(batch);
    else if (silent.length === 0) limits.accepted(batch);
    else if (silent.length === batch.length) await this.silent(batch, isAgain);
    else {
      if (isTooLarge) limits.silent(batch);
      this.divide(silent);
    }
  }

  /** Of smaller batches there are more: the first one that is refused for the rate ends the ask, so that a refusal makes no more requests. */
  private limited(batch: readonly EncodedCall[]): void {
    this.asking.limits.limited(batch);
    if (!this.asking.limits.isLowered) return;
    for (const { id } of this.waiting.splice(0).flat()) this.answered(id, failed(NOT_SENT_FOR_RATE));
  }

  /** The endpoint either processed nothing of the refused batch, or processes the same calls twice. */
  private refused(
    batch: readonly EncodedCall[],
    { isForBytes, message }: { isForBytes: boolean; message: string },
  ): void {
    const [first] = batch;
    if (batch.length === 1 && first) {
      this.answered(first.id, tooLarge(message));
      return;
    }
    for (const { id } of batch) this.mayBeThere.add(id);
    this.refusedAs(batch, isForBytes);
  }

  /** @param isAgain it had no answer in a larger batch either */
  private async silent(batch: readonly EncodedCall[], isAgain: boolean): Promise<void> {
    const [first] = batch;
    const reply = first && this.replies.get(first.id);
    // An answer without the reply of a lone call says nothing about the call.
    const isLoneAccident = batch.length === 1 && !isAgain && !wasTooSlow(reply);
    this.silentTrips += 1;
    if (isLoneAccident || !(await this.asking.isAlive())) this.isDead = true;
    else if (batch.length > 1) {
      this.asking.limits.silent(batch);
      this.divide(batch);
    } else if (first) this.replies.set(first.id, ofThisCall(reply));
  }

  /** Some endpoints close the connection of a batch that is too large (docs/invariants.md, K9). */
  private async lost(batch: readonly EncodedCall[]): Promise<void> {
    this.silentTrips += 1;
    if (batch.length === 1 || !(await this.asking.isSameChain())) {
      this.isDead = true;
      return;
    }
    this.refusedAs(batch, false);
    this.waiting.push(...this.asking.limits.slices(this.waiting.splice(0).flat()));
  }

  private refusedAs(batch: readonly EncodedCall[], isForBytes: boolean): void {
    this.asking.limits.refused(batch, isForBytes);
    this.divide(batch);
  }

  /** Next, and in their order. */
  private divide(calls: readonly EncodedCall[]): void {
    const middle = Math.ceil(calls.length / 2);
    this.waiting.unshift(...[calls.slice(0, middle), calls.slice(middle)].filter((half) => half.length > 0));
  }

  /** Whatever is said later, a call that may have arrived once may have been executed. */
  private answered(id: number, reply: RpcReply = failed(NOT_SENT)): void {
    const before = this.replies.get(id);
    const mayHaveArrived = before?.kind === 'error' || (before?.kind === 'failed' && before.failure.mayHaveArrived);
    if (mayHaveArrived && reply.kind === 'error') this.replies.set(id, { ...reply, afterSilence: true });
    else if (mayHaveArrived && reply.kind === 'failed')
      this.replies.set(id, failed({ ...reply.failure, mayHaveArrived }));
    else this.replies.set(id, reply);
  }

  private replyTo(id: number): RpcReply {
    const reply = this.replies.get(id) ?? failed(NOT_SENT);
    if (reply.kind !== 'failed') return reply;
    const isOfBatch = !this.isDead && (isSilence(reply) || reply.failure === NOT_SENT);
    const mayHaveArrived = reply.failure.mayHaveArrived || this.mayBeThere.has(id);
    return failed({ ...reply.failure, mayHaveArrived, ...(isOfBatch && { reason: 'batch_silent' }) });
  }
}

/** An error of this call, not a failure of the endpoint: the endpoint will always refuse this call. */
function tooLarge(message: string): RpcReply {
  return { kind: 'error', error: { code: undefined, message: `oversized data: ${message}`, data: undefined } };
}

function ofThisCall(reply: RpcReply | undefined): RpcReply {
  const message = reply?.kind === 'failed' ? reply.failure.message : reply?.kind === 'error' ? reply.error.message : '';
  return failed({
    reason: 'call_silent',
    mayHaveArrived: true,
    message: `no answer to this call, while others are answered: ${message}`,
  });
}

const NOT_SENT: RpcFailure = {
  reason: 'unreachable',
  mayHaveArrived: false,
  message: 'not sent: the batch before it got no answer',
};

const NOT_SENT_FOR_RATE: RpcFailure = {
  reason: 'rate_limited',
  mayHaveArrived: false,
  message: 'not sent: the batch before it was refused for the rate of requests',
};
