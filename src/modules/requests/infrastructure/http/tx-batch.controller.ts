import { Controller, HttpCode, HttpStatus, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../../../kernel/caller.js';
import { InvalidInput } from '../../../../kernel/errors.js';
import { reportFault } from '../../../../platform/http/domain-problem.js';
import type { Mistakes } from '../../../../platform/http/mistakes.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { RequestValidationPipe } from '../../../../platform/http/validation-pipe.js';
import { Log } from '../../../../platform/logging/log.js';
import { mapInTurns } from '../../../../platform/scheduling/map-in-turns.js';
import { Chains } from '../../../chain/index.js';
import { CreateTx, type CreatedTx } from '../../application/create-tx.js';
import { CreationLimits } from '../../application/creation-limits.js';
import { StoredRequests } from '../../application/stored-requests.js';
import type { TxRequest } from '../../../ledger/index.js';
import type { IsRepeated } from '../../application/stored-requests.js';
import { chainOf } from './accepted-tx.js';
import { CreateTxDto } from './create-tx.dto.js';
import { toRequest } from './to-request.js';
import { TxBatchDto, TxBatchResultDto } from './tx-batch.dto.js';
import { TX_BATCH_EXAMPLES, TX_BATCH_RESULT_EXAMPLES } from './tx-batch.examples.js';
import {
  BatchMistakes,
  itemProblem,
  itemsOf,
  itemView,
  type Outcome,
  outcomeOf,
  type TxBatchItemView,
} from './tx-batch.items.js';

interface AskedItem {
  readonly asked: Omit<TxRequest, 'requestHash'>;
  readonly isRepeated: IsRepeated;
}

/** An access list may have a thousand addresses, each with a checksum. */
const TURN_MS = 10;

@ApiTags('transactions')
@Controller('api/v1/tx/batch')
export class TxBatchController {
  private readonly validation = new RequestValidationPipe();

  constructor(
    private readonly createTx: CreateTx,
    private readonly chains: Chains,
    private readonly creationLimits: CreationLimits,
    private readonly stored: StoredRequests,
    private readonly log: Log,
  ) {}

  @Post()
  @Scope('tx:write')
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    operationId: 'createTxBatch',
    summary: 'Submit a batch of transactions',
    description:
      'Each item gets the result that POST /api/v1/tx would have returned, in its own `status`; other items do not affect it. Items of one signer and priority get their nonces in the order of the batch. A repeated batch sends nothing twice: items that were stored before get status 200. The whole body must fit into `server.bodyLimit`.',
  })
  @ApiBody({ type: TxBatchDto, examples: TX_BATCH_EXAMPLES })
  @ApiResponse({
    status: 200,
    type: TxBatchResultDto,
    examples: TX_BATCH_RESULT_EXAMPLES,
    description: 'One result per item',
  })
  async create(@Req() request: FastifyRequest): Promise<{ readonly items: TxBatchItemView[] }> {
    if (request.headers['idempotency-key'] !== undefined) {
      throw new InvalidInput(
        'idempotency_key_of_batch',
        'the Idempotency-Key header can name only one request; nothing was stored',
        'leave the header out, and give each item a requestId',
      );
    }
    const outcomes = await this.createAll(itemsOf(request.body), callerOf(request));
    this.reportFaults(outcomes, request);
    return { items: await mapInTurns(outcomes, itemView) };
  }

  private async createAll(items: readonly unknown[], sender: Caller): Promise<Outcome<CreatedTx>[]> {
    const mistakes = new BatchMistakes();
    const reading = await mapInTurns(items, (item) => outcomeOf(this.read(item, mistakes.ofNext(), sender)), TURN_MS);
    const preparing = await mapInTurns(await Promise.all(reading), async (asked) =>
      'error' in asked ? asked : outcomeOf(this.createTx.prepare(asked.value.asked, asked.value.isRepeated)),
    );
    const prepared = await Promise.all(preparing);
    const together = Symbol('batch');
    // Starts after all items are prepared, and for all in one go, so that they are stored in the order of the batch.
    const created = prepared.map(async (tx) =>
      'error' in tx ? tx : outcomeOf(this.createTx.store(tx.value, together)),
    );
    return Promise.all(created);
  }

  private async read(item: unknown, mistakes: Mistakes, sender: Caller): Promise<AskedItem> {
    const body = this.validation.read(CreateTxDto, item, mistakes);
    if (body.allocate === 'now') {
      throw new InvalidInput(
        'allocate_in_batch',
        'a batch does not wait for nonces, so allocate cannot be "now"',
        'leave allocate out, or send this item to POST /api/v1/tx',
      );
    }
    if (body.payload.blobs != null) {
      throw new InvalidInput('blobs_in_batch', 'a batch takes no blobs', 'send this item to POST /api/v1/tx');
    }
    const asked = toRequest(body, chainOf(this.chains, body.chainId), undefined, sender);
    const isRepeated = this.stored.lookUp(asked);
    await this.creationLimits.admit(asked, isRepeated);
    return { asked, isRepeated };
  }

  /** Reports each cause once: when the database is unavailable, all items fail with the same error. */
  private reportFaults(outcomes: readonly Outcome<CreatedTx>[], request: FastifyRequest): void {
    const errors = new Set(outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : [])));
    for (const error of errors) {
      const fault = itemProblem(error);
      if (fault.status >= 500) reportFault(this.log, error, fault, request);
    }
  }
}
