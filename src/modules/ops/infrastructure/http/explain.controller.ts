import { Controller, Get, Param, Req } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { findTx } from '../../../requests/index.js';
import { type ExplainedTx, ExplainTx } from '../../application/explain-tx.js';
import type { Price, TxFacts } from '../../domain/tx-facts.js';
import { ExplanationDto } from './explanation.dto.js';

@ApiTags('transactions')
@Controller('api/v1/tx')
export class ExplainController {
  constructor(private readonly explain: ExplainTx) {}

  @Get(':txId/explain')
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'explainTx',
    summary: 'Explain why a transaction waits',
    description:
      'Says in plain words why it is where it is, since when, what happens next and when, and what an operator can do, with the facts. Asks the chain ' +
      'for one fee quote and one balance; what it does not answer within 2 s is null.',
  })
  @ApiResponse({ status: 200, type: ExplanationDto })
  async of(@Param('txId') txId: string, @Req() request: FastifyRequest): Promise<ExplanationDto> {
    return shown(await findTx(txId, (id) => this.explain.execute(id, callerOf(request))));
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
