import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHAIN_FLAGS, CHAIN_GAS_LIMIT } from './chain.js';
import type { Finding } from './finding.js';
import type { Machine } from './machine.js';
import type { Options } from './options.js';
import { plot } from './plot.js';
import { IN_FLIGHT, SERVICE_CHAIN, SERVICE_CONFIG } from './service-config.js';
import type { Sizes } from './sizes.js';

/** Everything that a run leaves. */
export interface Results {
  readonly startedAt: string;
  readonly command: string;
  /** False when it was scaled: compare nothing with it. */
  readonly comparable: boolean;
  readonly machine: Machine;
  readonly options: Options;
  readonly sizes: Sizes;
  readonly findings: readonly Finding[];
  /** What could not be measured. */
  readonly failures: readonly string[];
}

const ENVIRONMENT = {
  service: {
    ...SERVICE_CONFIG,
    inFlightOfAllSigners: IN_FLIGHT,
    chain: SERVICE_CHAIN,
    everythingElse: "the product's defaults",
  },
  chain: { blockTimeSeconds: 1, gasLimit: CHAIN_GAS_LIMIT, flags: CHAIN_FLAGS },
  postgres: "PostgreSQL's defaults, fsync on",
};

/** @returns the files */
export function writeResults(directory: string, results: Results): string[] {
  const json = join(directory, 'results.json');
  const svg = join(directory, 'plot.svg');
  writeFileSync(json, `${JSON.stringify({ ...results, environment: ENVIRONMENT }, null, 2)}\n`);
  writeFileSync(svg, plot(results.findings));
  return [json, svg];
}
