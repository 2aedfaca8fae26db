import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import type { Server as HttpsServer } from 'node:https';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { AppModule } from './app.module.js';
import { ConfigInvalid, formatConfigMistakes, loadConfig, type LockstepConfig } from './config/index.js';
import { DomainError } from './kernel/errors.js';
import { startDatabase } from './platform/database/start-database.js';
import { followCertificate } from './platform/http/certificate.js';
import { createFastifyAdapter } from './platform/http/fastify-server.js';
import { WaitingRoom } from './platform/http/waiting-room.js';
import { Log } from './platform/logging/log.js';
import { NestLogger } from './platform/logging/nest-logger.js';
import { PinoLog } from './platform/logging/pino-log.js';

/** EX_CONFIG of sysexits.h: restarting will not help. */
const EXIT_CONFIG = 78;
/** Connections that wait to be accepted. Node's 511 are too few for thousands of clients that come at once: the kernel resets the others. */
const MOST_UNACCEPTED = 4_096;
/** For the work in flight, before leases are released; below Kubernetes' default of 30 s. */
const SHUTDOWN_TIMEOUT_MS = 25_000;

function readConfig(): LockstepConfig {
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    process.stderr.write(`${formatConfigMistakes(error)}\n`);
    process.exit(EXIT_CONFIG);
  }
}

/**
 * On SIGTERM and SIGINT, finishes the work in flight and exits with 0. Nest's own hooks would end by the signal, which looks like a crash.
 * Exits with 1 after the time-out, because a hanging process is worse than a killed one: leases expire by themselves.
 */
function closeOnSignal(app: INestApplication, log: Log): void {
  let closing = false;
  const close = (signal: NodeJS.Signals): void => {
    if (closing) return;
    closing = true;
    log.info('shutting down', { signal });
    setTimeout(() => {
      log.error('shutdown failed', { error: `the work in flight did not end in ${SHUTDOWN_TIMEOUT_MS} ms` });
      process.exit(1);
    }, SHUTDOWN_TIMEOUT_MS).unref();
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('shutdown failed', { error });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', close);
  process.on('SIGINT', close);
}

/** For Swagger UI at `/docs`, and `/docs-json`. The build makes it: a node would need a third of a second at each start. */
function builtDocument(): OpenAPIObject {
  return JSON.parse(readFileSync(new URL('./openapi.json', import.meta.url), 'utf8')) as OpenAPIObject;
}

/** Waits for the database and runs migrations. Meanwhile the port answers probes, so that the process is not restarted. */
async function beforeService(config: LockstepConfig, log: Log): Promise<void> {
  const waitingRoom = await WaitingRoom.open(config.server);
  try {
    await startDatabase(config.database, log);
  } finally {
    await waitingRoom.close();
  }
}

async function main(): Promise<void> {
  const config = readConfig();
  const bootLog = PinoLog.create(config.logging.level);
  await beforeService(config, bootLog);
  const options = { logger: new NestLogger(bootLog), abortOnError: false };
  const adapter = createFastifyAdapter(config.server);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.register(config), adapter, options);
  closeOnSignal(app, app.get(Log));
  SwaggerModule.setup('docs', app, builtDocument);
  const { port, opsPort, host, tls } = config.server;
  if (tls.files) followCertificate(app.getHttpServer() as HttpsServer, tls.files, app.get(Log));
  await app.listen({ port, host, backlog: MOST_UNACCEPTED });
  await adapter.listenOps(config.server);
  app.get(Log).info('listening', { port, opsPort });
}

main().catch((error: unknown) => {
  const known = error instanceof DomainError && error.kind !== 'internal' ? error : null;
  const fields = known
    ? { code: known.code, error: known.message, advice: known.advice }
    : { error: error instanceof Error ? error.stack : String(error) };
  process.stderr.write(`${JSON.stringify({ level: 'fatal', msg: 'start failed', ...fields })}\n`);
  process.exit(known?.retryable === false ? EXIT_CONFIG : 1);
});
