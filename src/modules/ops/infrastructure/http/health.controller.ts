import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { ApiProblems } from '../../../../platform/http/problem.dto.js';
import { ReadinessProbes } from '../readiness-probes.js';

@ApiTags('operations')
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly probes: ReadinessProbes,
  ) {}

  /** Never touches the database or the chain: a restart mends neither. */
  @Get('live')
  @ApiOperation({ summary: 'Liveness: the process answers' })
  @ApiOkResponse({ schema: { example: { status: 'ok' } } })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('ready')
  @HealthCheck({ swaggerDocumentation: false })
  @ApiOperation({
    summary: 'Readiness: the database answers, the migrations were run, and the node is not draining',
    description:
      'Chains are shown as this node knows them from its own calls; a probe makes none. A chain without a usable RPC endpoint is ' +
      '`degraded`, and the status is 200 nevertheless: requests are accepted, and are sent when an endpoint is back. Each endpoint ' +
      'is shown with its `state`: `up`; `lagging` (more than `chains[].maxLag` blocks behind the best head, read from only when no ' +
      'other is well); `ahead` (so far ahead that no other confirms it, read from only when there is no other); `backing_off` (it failed or ' +
      'asked us to wait); `unverified` (it has not told its chain id yet, or not since it was away); `wrong_chain` (never used).',
  })
  @ApiOkResponse({
    schema: {
      example: {
        status: 'ok',
        details: {
          database: { status: 'up' },
          migrations: { status: 'up' },
          'chain-31337': {
            status: 'up',
            endpoints: [
              {
                endpoint: '#0 https://rpc.example',
                state: 'up',
                lagBlocks: 0,
                reportedChainId: null,
                lastError: null,
              },
              {
                endpoint: '#1 https://other.example',
                state: 'wrong_chain',
                lagBlocks: null,
                reportedChainId: 1,
                lastError: 'serves chain 1',
              },
            ],
          },
        },
      },
    },
  })
  @ApiProblems('/health/ready', {
    status: 503,
    code: 'service_unavailable',
    detail: 'not ready',
    advice: 'see facts.details for what is down',
    retryable: true,
  })
  ready(): Promise<HealthCheckResult> {
    return this.health.check(this.probes.all());
  }
}
