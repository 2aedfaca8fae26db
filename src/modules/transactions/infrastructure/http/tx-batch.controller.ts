import { Controller, HttpCode, HttpStatus, Post, Req } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { InvalidInput } from '../../../../kernel/errors.js';
import { ApiProblems, ProblemDto } from '../../../../platform/http/problem.dto.js';
import { reportFault } from '../../../../platform/http/report-fault.js';
import { RequestValidationPipe } from '../../../../platform/http/validation-pipe.js';
import { Log } from '../../../../platform/logging/log.js';
import { Chains } from '../../../chain/index.js';
import { AssertCallback } from '../../application/intake/assert-callback.js';
import { CreateTx, type CreatedTx } from '../../application/intake/create-tx.js';
import type { TxRequest } from '../../domain/tx-request.js';
import { chainOf } from './accepted-tx.js';
import { CreateTxDto } from './create-tx.dto.js';
import { toRequest } from './to-request.js';
import { TxBatchDto, TxBatchResultDto } from './tx-batch.dto.js';
import { TX_BATCH_EXAMPLES, TX_BATCH_RESULT_EXAMPLES } from './tx-batch.examples.js';
import { itemsOf } from './tx-batch.items.js';
import {
  BATCH_PATH,
  itemProblem,
  itemView,
  type Outcome,
  outcomeOf,
  type TxBatchItemView,
} from './tx-batch.results.js';
import * as problem from './tx-problems.js';

@ApiTags('transactions')
@ApiExtraModels(ProblemDto)
@Controller('api/v1/tx/batch')
export class TxBatchController {
  private readonly validation = new RequestValidationPipe();

  constructor(
    private readonly assertCallback: AssertCallback,
    private readonly createTx: CreateTx,
    private readonly chains: Chains,
    private readonly log: Log,
  ) {}

  @Post()
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
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
  @ApiProblems(
    BATCH_PATH,
    problem.EMPTY_BATCH,
    problem.BATCH_TOO_LARGE,
    problem.KEY_OF_BATCH,
    problem.INVALID_BATCH,
    problem.MALFORMED_JSON,
    problem.TOO_LARGE,
  )
  async create(@Req() request: FastifyRequest): Promise<{ readonly items: TxBatchItemView[] }> {
    if (request.headers['idempotency-key'] !== undefined) {
      const { code, detail, advice } = problem.KEY_OF_BATCH;
      throw new InvalidInput(code, detail, advice);
    }
    const outcomes = await this.createAll(await itemsOf(request.body, this.validation));
    this.reportFaults(outcomes, request);
    return { items: outcomes.map(itemView) };
  }

  private async createAll(items: readonly unknown[]): Promise<Outcome<CreatedTx>[]> {
    const read = await Promise.all(items.map((item) => outcomeOf(this.read(item))));
    const together = Symbol('batch');
    // Starts after all items are parsed, and for all in one go, so that they are stored in the order of the batch.
    const created = read.map(async (asked) =>
      'error' in asked ? asked : outcomeOf(this.createTx.execute(asked.value, together)),
    );
    return Promise.all(created);
  }

  private async read(item: unknown): Promise<Omit<TxRequest, 'requestHash'>> {
    const body = await this.validation.read(CreateTxDto, item);
    if (body.allocate === 'now') {
      const { code, detail, advice } = problem.ALLOCATE_IN_BATCH;
      throw new InvalidInput(code, detail, advice);
    }
    if (body.payload.blobs != null) {
      const { code, detail, advice } = problem.BLOBS_IN_BATCH;
      throw new InvalidInput(code, detail, advice);
    }
    const asked = toRequest(body, chainOf(this.chains, body.chainId), undefined);
    await this.assertCallback.execute(asked);
    return asked;
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
