import { Controller, Get, Global, Module, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { Open } from '../http/scope.js';
import { Metrics } from './metrics.js';

@ApiTags('operations')
@Controller('metrics')
class MetricsController {
  constructor(private readonly registry: Registry) {}

  @Get()
  @Open()
  @ApiOperation({
    operationId: 'getMetrics',
    summary: 'Metrics for Prometheus',
    description:
      'Counters, gauges and histograms of this node in the text format of Prometheus. docs/operations.md says what each means.',
  })
  @ApiProduces('text/plain')
  @ApiOkResponse({ description: 'Prometheus text format', schema: { type: 'string' } })
  async read(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    void reply.header('content-type', this.registry.contentType);
    return this.registry.metrics();
  }
}

/** The metrics of the process and those of the table are in one injected registry; there is no process-wide one. */
@Global()
@Module({
  controllers: [MetricsController],
  providers: [{ provide: Registry, useFactory: processRegistry }, Metrics],
  exports: [Metrics],
})
export class MetricsModule {}

function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
