import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { ConfigInvalid, formatConfigMistakes, loadConfig, type LockstepConfig } from './config/index.js';
import { runMigrations } from './platform/database/migrations.js';
import { createFastifyAdapter } from './platform/http/fastify-server.js';
import { Log } from './platform/logging/log.js';
import { NestLogger } from './platform/logging/nest-logger.js';
import { PinoLog } from './platform/logging/pino-log.js';
import { serveOpenApi } from './openapi.js';

/** EX_CONFIG of sysexits.h: restarting will not help. */
const EXIT_CONFIG = 78;

function readConfig(): LockstepConfig {
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    process.stderr.write(`${formatConfigMistakes(error)}\n`);
    process.exit(EXIT_CONFIG);
  }
}

/** A shutdown that hangs is worse than a hard one: leases expire by themselves. */
function exitWhenStuck(timeoutMs: number): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => setTimeout(() => process.exit(1), timeoutMs).unref());
  }
}

async function main(): Promise<void> {
  const config = readConfig();
  const bootLog = PinoLog.create(config.logging.level);
  await runMigrations(config.database.url);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.register(config),
    createFastifyAdapter(config.server),
    {
      logger: new NestLogger(bootLog),
      abortOnError: false,
    },
  );
  app.enableShutdownHooks(['SIGTERM', 'SIGINT']);
  exitWhenStuck(config.server.shutdownTimeout);
  serveOpenApi(app);
  await app.listen(config.server.port, config.server.host);
  app.get(Log).info('listening', { port: config.server.port });
}

main().catch((error: unknown) => {
  process.stderr.write(
    `${JSON.stringify({ level: 'fatal', msg: 'start failed', error: error instanceof Error ? error.stack : String(error) })}\n`,
  );
  process.exit(1);
});
