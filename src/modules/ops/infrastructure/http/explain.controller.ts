import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { NotFound } from '../../../../kernel/errors.js';
import { ApiProblems } from '../../../../platform/http/problem.dto.js';
import { isTxId } from '../../../transactions/index.js';
import { type ExplainedTx, ExplainTx } from '../../application/explain-tx.js';
import type { Price, TxFacts } from '../../domain/tx-facts.js';
import { ExplanationDto } from './explanation.dto.js';

@ApiTags('transactions')
@Controller('api/v1/tx')
export class ExplainController {
  constructor(private readonly explain: ExplainTx) {}

  @Get(':txId/explain')
  @ApiOperation({
    summary: 'Explain why a transaction waits',
    description:
      'Says in plain words why it is where it is, since when, what happens next and when, and what an operator can do, with the facts. Asks the chain ' +
      'for one fee quote and one balance; what it does not answer within 2 s is null.',
  })
  @ApiResponse({ status: 200, type: ExplanationDto })
  @ApiProblems(
    '/api/v1/tx/{txId}/explain',
    {
      status: 404,
      code: 'tx_not_found',
      detail: 'no such transaction',
      advice: 'check the id, or find the transaction by its requestId',
    },
    {
      status: 503,
      code: 'database_unavailable',
      detail: 'the database did not answer in time',
      advice: 'try again',
      retryable: true,
    },
  )
  async of(@Param('txId') txId: string): Promise<ExplanationDto> {
    const explained = isTxId(txId) ? await this.explain.execute(txId) : null;
    if (explained === null)
      throw new NotFound(
        'tx_not_found',
        'no such transaction',
        'check the id, or find the transaction by its requestId',
      );
    return shown(explained);
  }
}

function shown({ facts, explanation: { summary, next, operator } }: ExplainedTx): ExplanationDto {
  const { txId, state, subState, since, queue, blockedBy, price, attempts, endpoints, balance, signer } = facts;
  const { command, noOpSignedAt } = facts;
  return {
    ...{ txId, state, subState, summary, since, next },
    operator: [...operator],
    facts: {
      ...{ queue, blockedBy, attempts, signer, command, noOpSignedAt },
      price: price && shownPrice(price),
      endpoints: [...endpoints],
      balance: balance && {
        balance: String(balance.balance),
        committed: String(balance.committed),
        queuedAhead: String(balance.queuedAhead),
        missing: String(balance.missing),
      },
    },
  };
}

function shownPrice({ highestAttempt, market, congestedTip, aboveMarket }: NonNullable<TxFacts['price']>) {
  return {
    highestAttempt: highestAttempt && wei(highestAttempt),
    market: wei(market),
    congestedTip: String(congestedTip),
    aboveMarket,
  };
}

function wei({ maxFeePerGas, maxPriorityFeePerGas }: Price) {
  return { maxFeePerGas: String(maxFeePerGas), maxPriorityFeePerGas: String(maxPriorityFeePerGas) };
}
