import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadConfig } from '../config/index.js';
import { startEmbeddedStack } from './embedded-stack.js';
import { chainIdOf } from './json-rpc.js';
import { LaunchError } from './launch-error.js';
import { type LaunchPlan, portFrom } from './launch-plan.js';
import type { Log } from './log.js';
import { KEPT, kept } from './paths.js';
import { assertPortFree } from './port-in-use.js';
import { PidFile } from './pid-file.js';
import type { RunningParts } from './running-parts.js';
import { devConfig, givenConfig, type ServiceConfig } from './service-config.js';
import type { StopSignal } from './stop-signal.js';
import { keptWebhookKey } from './webhook-key.js';

/** The settings to start the service with. */
export interface PreparedService {
  readonly pids: PidFile;
  readonly env: Readonly<Record<string, string>>;
  /** True when the signers are the dev accounts: the welcome then suggests a first transaction. */
  readonly devChain: boolean;
  /** The file of the key that the welcome uses; null where the config is the reader's own. */
  readonly keyFile: string | null;
}

const DEFAULT_PORT = 3000;

export async function prepareService(
  plan: LaunchPlan,
  log: Log,
  parts: RunningParts,
  stop: StopSignal,
): Promise<PreparedService> {
  switch (plan.kind) {
    case 'embedded':
      return prepareEmbedded(log, parts, stop);
    case 'config-file':
      return prepareConfigFile(plan.path, log, parts);
    case 'given':
      return prepareGiven(plan, log, parts);
  }
}

async function prepareEmbedded(log: Log, parts: RunningParts, stop: StopSignal): Promise<PreparedService> {
  const port = portFrom(process.env, DEFAULT_PORT);
  const pids = await claim(kept.pids, port, log, parts);
  const { databaseUrl, rpcUrl } = await startEmbeddedStack({ log, pids, parts, stop });
  const config = devConfig(databaseUrl, rpcUrl, port, keptWebhookKey(kept.webhookKey));
  return { pids, env: writeConfig(kept.config, config), devChain: true, keyFile: kept.devKey };
}

/** Uses the file. Only PORT overrides it, so that several instances can share one file. */
async function prepareConfigFile(path: string, log: Log, parts: RunningParts): Promise<PreparedService> {
  const env = {
    ...process.env,
    LOCKSTEP_CONFIG: path,
    ...(process.env.PORT && { LOCKSTEP_SERVER_PORT: process.env.PORT }),
  };
  const { port } = loadConfig({ env }).server;
  log(`using ${path}: no embedded database or chain`);
  const pids = await claim(ownPids(port), port, log, parts);
  const own = { LOCKSTEP_CONFIG: path, LOCKSTEP_SERVER_PORT: String(port) };
  return { pids, env: own, devChain: false, keyFile: null };
}

async function prepareGiven(
  plan: Extract<LaunchPlan, { kind: 'given' }>,
  log: Log,
  parts: RunningParts,
): Promise<PreparedService> {
  const port = portFrom(process.env, DEFAULT_PORT);
  log('using DATABASE_URL and RPC_URL: no embedded database or chain');
  const webhookKey = process.env.WEBHOOK_KEY ?? keptWebhookKey(kept.webhookKey);
  const config = givenConfig(await firstChainId(plan.rpcUrls), plan, port, webhookKey);
  const pids = await claim(ownPids(port), port, log, parts);
  const env = writeConfig(join(KEPT, `given-${String(port)}.yaml`), config);
  const keyFile = join(KEPT, `key-${String(port)}`);
  return { pids, env, devChain: config.yaml.includes('mnemonic'), keyFile };
}

/** One file per port, because several instances may run from one clone on the user's own database. */
function ownPids(port: number): string {
  return join(KEPT, `pids-${String(port)}.json`);
}

async function claim(path: string, port: number, log: Log, parts: RunningParts): Promise<PidFile> {
  const pids = new PidFile(path);
  await pids.claim(log);
  parts.add(null, () => {
    pids.release();
    return Promise.resolve();
  });
  await assertPortFree(port);
  return pids;
}

/** URLs can contain API keys, so messages do not contain them. */
async function firstChainId(rpcUrls: readonly string[]): Promise<number> {
  for (const url of rpcUrls) {
    const id = await chainIdOf(url).catch(() => null);
    if (id !== null && Number.isSafeInteger(id)) return id;
  }
  throw new LaunchError(`None of the ${String(rpcUrls.length)} nodes in RPC_URL answers eth_chainId.`);
}

function writeConfig(path: string, config: ServiceConfig): Record<string, string> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(path, config.yaml);
  return { ...config.env, LOCKSTEP_CONFIG: path };
}
