import { Global, Module } from '@nestjs/common';
import { LoggingConfig } from '../../config/index.js';
import { Log } from './log.js';
import { PinoLog } from './pino-log.js';

@Global()
@Module({
  providers: [
    { provide: Log, inject: [LoggingConfig], useFactory: (config: LoggingConfig) => PinoLog.create(config.level) },
  ],
  exports: [Log],
})
export class LoggingModule {}
