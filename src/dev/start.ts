import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigInvalid, formatConfigMistakes, loadConfig } from '../config/index.js';
import { keepDevKey } from './dev-key.js';
import type { DetachedProcess } from './detached-process.js';
import { LaunchError } from './launch-error.js';
import { planLaunch } from './launch-plan.js';
import { type Log, timedLog } from './log.js';
import { ROOT } from './paths.js';
import { prepareService, type PreparedService } from './prepare-service.js';
import { RunningParts } from './running-parts.js';
import { becomesReady, startService } from './service.js';
import { StopSignal } from './stop-signal.js';
import { firstTransactionLines, keyLines, urlLines } from './welcome.js';

/** Longer than the service's own time-out of 25 s, which ends it first. */
const SERVICE_GRACE_MS = 60_000;
/** sysexits EX_CONFIG, as the service itself exits on a bad config. */
const BAD_CONFIG = 78;

/** Runs `npm start`: starts all parts, waits, and stops them. @returns the exit code */
export async function main(): Promise<number> {
  const log = timedLog();
  const stop = new StopSignal(log);
  const parts = new RunningParts();
  try {
    return await run(log, stop, parts);
  } catch (error) {
    // A step that a signal interrupted fails; do not report that failure.
    return stop.isRequested ? 0 : report(error);
  } finally {
    await parts.stopAll(log);
  }
}

async function run(log: Log, stop: StopSignal, parts: RunningParts): Promise<number> {
  const file = join(ROOT, 'lockstep.yaml');
  const plan = planLaunch(process.env, existsSync(file) ? file : null);
  const prepared = await prepareService(plan, log, parts, stop);
  stop.throwIfRequested();

  log('starting the service (migrations run first)');
  const service = await startService(prepared.env);
  prepared.pids.add('service', service.identity);
  parts.add('service', () => service.stop('SIGTERM', SERVICE_GRACE_MS));

  const { ownUrl, probesUrl } = loadConfig({ env: { ...process.env, ...prepared.env } }).server;
  if (await stop.during(becomesReady(service, probesUrl))) {
    if (prepared.keyFile !== null) await keepDevKey(prepared.keyFile, ownUrl, prepared.env);
    log('ready');
    welcome(ownUrl, probesUrl, prepared);
  }
  return Promise.race([stop.requested.then(() => 0), exitOf(service, stop)]);
}

async function exitOf(service: DetachedProcess, stop: StopSignal): Promise<number> {
  const { code, signal } = await service.exited;
  stop.throwIfRequested();
  process.stderr.write(`The service ended by itself (${signal ?? `exit code ${String(code)}`}); stopping the rest.\n`);
  return code ?? 1;
}

function welcome(baseUrl: string, probesUrl: string, { devChain, keyFile }: PreparedService): void {
  const lines = [
    '',
    ...urlLines(baseUrl, probesUrl),
    '',
    ...(keyFile === null ? [] : keyLines(keyFile)),
    ...(devChain && keyFile !== null ? firstTransactionLines(baseUrl, keyFile) : []),
    'Ctrl-C stops everything.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function report(error: unknown): number {
  if (error instanceof ConfigInvalid) {
    process.stderr.write(`${formatConfigMistakes(error)}\n`);
    return BAD_CONFIG;
  }
  const words =
    error instanceof LaunchError
      ? error.message
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error);
  process.stderr.write(`\n${words}\n\n`);
  return 1;
}
