import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { Open } from '../../../../platform/http/scope.js';
import { ReadinessProbes } from '../readiness-probes.js';

@ApiTags('operations')
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly probes: ReadinessProbes,
  ) {}

  /** Never calls the database or the chain: a restart would repair neither. */
  @Get('live')
  @Open()
  @ApiOperation({
    operationId: 'getLiveness',
    summary: 'Check liveness: the process answers',
    description:
      'For the liveness probe of Kubernetes. It looks at nothing else: a restart repairs no database and no chain.',
  })
  @ApiOkResponse({ schema: { example: { status: 'ok' } } })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('ready')
  @Open()
  @HealthCheck({ swaggerDocumentation: false })
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Check readiness: the database takes writes, the migrations have run, and the node is not shutting down',
    description:
      'Reports chains from the calls that this node made before; a probe makes no call. A chain without a usable RPC endpoint is ' +
      '`degraded`, and the status is still 200: Lockstep accepts requests, and sends them when an endpoint is back. Each endpoint ' +
      'has a `state`: `up`; `lagging` (more than `chains[].maxLag` blocks behind the best head, used for reads only when no other ' +
      'endpoint is up); `ahead` (so far ahead that no other endpoint confirms it, used for reads only when there is no other); `backing_off` (it ' +
      'failed or asked us to wait); `unverified` (it has not reported its chain id yet, or not since it was away); `wrong_chain` (never used). While signers are ' +
      'paused, it says which and since when, but, because it asks for no key, not by whom and why: `GET /api/v1/stops` does.',
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
  ready(): Promise<HealthCheckResult> {
    return this.health.check(this.probes.all());
  }
}
