import { type DynamicModule, Module, type OnModuleDestroy } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ConfigModule, type LockstepConfig } from './config/index.js';
import { AccessModule } from './modules/access/access.module.js';
import { AccessGuard } from './modules/access/index.js';
import { BrokerModule } from './modules/broker/broker.module.js';
import { CommandsModule } from './modules/commands/commands.module.js';
import { ConfirmationsModule } from './modules/confirmations/confirmations.module.js';
import { LanesModule } from './modules/lanes/lanes.module.js';
import { PermitsModule } from './modules/permits/permits.module.js';
import { OpsModule } from './modules/ops/ops.module.js';
import { RetentionModule } from './modules/retention/retention.module.js';
import { RequestsModule } from './modules/requests/requests.module.js';
import { WebhooksModule } from './modules/webhooks/webhooks.module.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { HttpModule } from './platform/http/http.module.js';
import { LimitGuard } from './platform/limits/limit-guard.js';
import { LoggingModule } from './platform/logging/logging.module.js';
import { MetricsModule } from './platform/metrics/metrics.module.js';
import { PlatformModule } from './platform/platform.module.js';
import { SchedulingModule } from './platform/scheduling/scheduling.module.js';
import { Tickers } from './platform/scheduling/tickers.js';

@Module({})
export class AppModule implements OnModuleDestroy {
  constructor(private readonly tickers: Tickers) {}

  /** The first hook of a shutdown: Nest begins with this module. */
  onModuleDestroy(): Promise<void> {
    return this.tickers.shutDown();
  }

  static register(config: LockstepConfig): DynamicModule {
    return {
      module: AppModule,
      // In this order.
      providers: [
        { provide: APP_GUARD, useClass: AccessGuard },
        { provide: APP_GUARD, useClass: LimitGuard },
      ],
      imports: [
        ConfigModule.register(config),
        LoggingModule,
        MetricsModule,
        PlatformModule,
        SchedulingModule,
        HttpModule,
        DatabaseModule,
        AccessModule,
        RequestsModule,
        CommandsModule,
        LanesModule,
        ConfirmationsModule,
        PermitsModule,
        WebhooksModule,
        RetentionModule,
        ...(config.broker !== undefined && config.node.acts ? [BrokerModule.register(config.broker)] : []),
        OpsModule,
      ],
    };
  }
}
