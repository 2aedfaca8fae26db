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
  @ApiOperation({ summary: 'Readiness: database, migrations and every chain answer, and the node is not draining' })
  @ApiOkResponse({
    schema: {
      example: {
        status: 'ok',
        details: {
          database: { status: 'up' },
          migrations: { status: 'up' },
          'chain-31337': { status: 'up', head: 42 },
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
