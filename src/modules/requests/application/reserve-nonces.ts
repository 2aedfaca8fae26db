import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../kernel/caller.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import { AskTogether } from '../../../platform/scheduling/ask-together.js';
import { ManagedTxRepository, NO_FEES, NO_PAYLOAD, type RequestedTx, type TxRequest } from '../../ledger/index.js';
import { CreateTx, type CreatedTx } from './create-tx.js';
import { CreationLimits } from './creation-limits.js';
import { type IsRepeated, StoredRequests } from './stored-requests.js';
import { waitForNonce } from './wait-for-nonce.js';
import { WaitForState } from './wait-for-state.js';

export interface ReserveInput {
  readonly signer: SignerId;
  readonly sender: Caller;
  readonly requestId: string;
  readonly count: number;
  /** In seconds; null: only its sender or the chain ends a hold. */
  readonly ttl: number | null;
  readonly metadata: JsonObject | null;
}

export interface Reserved {
  /** In the order of the request; those of one batch are not always in a row. */
  readonly holds: readonly RequestedTx[];
  /** False when the same request was stored before. */
  readonly isNew: boolean;
}

interface Asked {
  readonly request: Omit<TxRequest, 'requestHash'>;
  readonly isRepeated: IsRepeated;
}

/** Between the idempotency key and the number of a hold. No client can send it in a key (`IsRequestId`). */
const UNIT_SEPARATOR = '\u001f';

/**
 * Reserves nonces for an outside sender: each is a managed tx of kind `hold`, which any node stores, and which gets its nonce from the owner of the
 * signer (docs/decisions/0043-holds.md). The first one has the idempotency key itself, and is stored before the others: so it decides for all of them
 * what a repeated request is, and a crash between leaves what a repetition completes.
 */
@Injectable()
export class ReserveNonces {
  /** All that are read in one go: a flood of reservations makes few statements. */
  private readonly reads: AskTogether<string, RequestedTx | null>;

  constructor(
    private readonly createTx: CreateTx,
    private readonly limits: CreationLimits,
    private readonly stored: StoredRequests,
    private readonly wait: WaitForState,
    repository: ManagedTxRepository,
  ) {
    this.reads = new AskTogether(async (ids) => {
      const found = new Map((await repository.requested(ids)).map((one) => [one.tx.id, one]));
      return ids.map((id) => found.get(id) ?? null);
    });
  }

  /**
   * @param left when the client has left, nothing is waited for
   * @throws what {@link CreateTx} and {@link CreationLimits} throw
   */
  async execute(input: ReserveInput, left: AbortSignal): Promise<Reserved> {
    const asked = requestsOf(input).map((request) => ({ request, isRepeated: this.stored.lookUp(request) }));
    const created = await this.create(asked).catch(async (refusal: unknown) => {
      const isStored = await Promise.all(asked.map(({ isRepeated }) => isRepeated()));
      if (isStored[0] !== true) throw refusal;
      // Its sender has to learn which nonces it has. A later repetition completes it.
      return this.create(asked.filter((_, index) => isStored[index]));
    });
    // A paused signer gives no nonce, so there is nothing to wait for.
    const last = created.findLast(({ nonce, isPaused }) => nonce === null && !isPaused);
    // They get them in their order, and a request has one of the places of those that wait.
    if (last) await waitForNonce(this.wait, last.txId, left);
    const holds = await Promise.all(created.map(({ txId }) => this.reads.of(txId)));
    return { holds: holds.flatMap((hold) => hold ?? []), isNew: created.some(({ isNew }) => isNew) };
  }

  private async create(asked: readonly Asked[]): Promise<CreatedTx[]> {
    const [first] = asked;
    if (first) await this.limits.admit(first.request, first.isRepeated, asked.length);
    const prepared = await Promise.all(
      asked.map(({ request, isRepeated }) => this.createTx.prepare(request, isRepeated)),
    );
    const together = Symbol('holds');
    const before = await Promise.all(prepared.slice(0, 1).map((one) => this.createTx.store(one, null)));
    const others = await Promise.all(prepared.slice(1).map((one) => this.createTx.store(one, together)));
    return [...before, ...others];
  }
}

function requestsOf({ signer, sender, requestId, count, ttl, metadata }: ReserveInput): Asked['request'][] {
  return Array.from({ length: count }, (_, index) => ({
    signer,
    sender,
    requestId: index === 0 ? requestId : `${requestId}${UNIT_SEPARATOR}${index}`,
    payload: NO_PAYLOAD,
    fees: NO_FEES,
    speed: 'standard',
    priority: 0,
    confirmations: null,
    expiresAt: null,
    metadata,
    hold: { ttl, count, index },
  }));
}
