import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Unprocessable } from '../../../../kernel/errors.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { Chains } from '../../../chain/index.js';
import { chainOf, CREATE_TX_EXAMPLES, CreateTxDto, ProveBlobs, toBlobs, toTxRequest } from '../../../requests/index.js';
import { POLICY_RULES, type PolicyVerdict } from '../../../policies/index.js';
import { SIMULATED_OUTCOMES, SimulateTx, type Simulation } from '../../application/simulate-tx.js';

/** Of 16. The others are for blobs that are sent: a flood of simulations, which need no tx:write, keeps nobody from sending. */
const BLOB_PLACES = 4;

class SimulatedFeesDto {
  @ApiProperty({ example: '3000000000', description: 'Wei per gas' }) maxFeePerGas!: string;
  @ApiProperty({ example: '1000000000', description: 'Wei per gas' }) maxPriorityFeePerGas!: string;
  @ApiProperty({ type: String, nullable: true, example: null, description: 'Wei per blob gas; null without blobs' })
  maxFeePerBlobGas!: string | null;
}

class SimulatedPolicyDto {
  @ApiProperty({ enum: ['allowed', 'refused'], enumName: 'PolicyVerdict', example: 'refused' }) verdict!: string;
  @ApiProperty({ enum: POLICY_RULES, enumName: 'PolicyRule', nullable: true, example: 'maxValue' })
  rule!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'maxValue is 1000 wei, and it needs 2000',
    description: 'Why; null when it is allowed',
  })
  reason!: string | null;
  @ApiProperty({ example: false, description: 'The policy only reports, and refuses nothing' }) dryRun!: boolean;
}

class SimulationDto {
  @ApiProperty({ enum: SIMULATED_OUTCOMES, enumName: 'SimulatedOutcome', example: 'succeeds' }) outcome!: string;
  @ApiProperty({ type: String, nullable: true, example: null, description: 'Why; null when it succeeds' })
  reason!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '21000', description: 'Estimated; null without an estimate' })
  gas!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '26250', description: 'That would be signed' })
  gasLimit!: string | null;
  @ApiProperty({ type: SimulatedFeesDto, nullable: true, description: 'Of the first attempt, within the caps' })
  fees!: SimulatedFeesDto | null;
  @ApiProperty({ type: String, nullable: true, example: null, description: 'Why it would wait for lower fees' })
  feesRefusal!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: '78750000000001',
    description:
      'The most that the first attempt could cost, in wei: value, all gas, blobs, and the L1 fee of a rollup',
  })
  cost!: string | null;
  @ApiProperty({ example: '1000000000000000000', description: 'Of the signer, in wei' }) balance!: string;
  @ApiProperty({
    type: SimulatedPolicyDto,
    nullable: true,
    description:
      'Of the signer, or of a signer whose authorization it wants, as far as the request alone decides; null without a policy',
  })
  policy!: SimulatedPolicyDto | null;
  @ApiProperty({ example: 4711, description: 'Of the fees' }) blockNumber!: number;
}

@ApiTags('transactions')
@Controller('api/v1/tx')
export class SimulateController {
  constructor(
    private readonly simulate: SimulateTx,
    private readonly proveBlobs: ProveBlobs,
    private readonly chains: Chains,
  ) {}

  @Post('simulate')
  @Scope('tx:read')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'simulateTx',
    summary: 'Simulate a transaction',
    description:
      'Says what would become of the request now: gas, fees, and why it reverts. Nothing is stored, and nothing is promised: what is in flight is not executed first. ' +
      'The body is that of POST /api/v1/tx; requestId may be left out. Authorizations without a signature are not applied.',
  })
  @ApiBody({ type: CreateTxDto, examples: CREATE_TX_EXAMPLES })
  @ApiResponse({ status: 200, type: SimulationDto })
  async of(@Body() body: CreateTxDto, @Req() request: FastifyRequest): Promise<SimulationDto> {
    const chainId = chainOf(this.chains, body.chainId);
    const asked = toTxRequest(body, chainId, body.requestId ?? 'simulated', callerOf(request));
    if (asked.payload.permits)
      throw new Unprocessable(
        'permits_not_simulated',
        'what is simulated has no permits: they are signed when the transaction is next',
        'create the transaction: it takes no nonce while its call reverts',
      );
    const blobs = toBlobs(body.payload.blobs ?? []);
    return shown(await this.simulate.execute(await this.proveBlobs.execute(asked, blobs, BLOB_PLACES)));
  }
}

function shown(simulated: Simulation): SimulationDto {
  const { outcome, reason, gas, gasLimit, fees, feesRefusal, cost, balance, policy, blockNumber } = simulated;
  const text = (amount: bigint | null | undefined): string | null => amount?.toString() ?? null;
  return {
    ...{ outcome, reason, feesRefusal, blockNumber },
    gas: text(gas),
    gasLimit: text(gasLimit),
    fees: fees && {
      maxFeePerGas: fees.maxFeePerGas.toString(),
      maxPriorityFeePerGas: fees.maxPriorityFeePerGas.toString(),
      maxFeePerBlobGas: text(fees.maxFeePerBlobGas),
    },
    cost: text(cost),
    balance: balance.toString(),
    policy: policy && shownPolicy(policy),
  };
}

function shownPolicy({ verdict, dryRun }: PolicyVerdict): SimulatedPolicyDto {
  if (verdict.kind === 'allowed') return { verdict: 'allowed', rule: null, reason: null, dryRun };
  return { verdict: verdict.kind, rule: verdict.rule, reason: verdict.reason, dryRun };
}
