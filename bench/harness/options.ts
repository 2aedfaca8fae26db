import { parseArgs } from 'node:util';

export interface Options {
  readonly quick: boolean;
  /** Null for all (or for those of `quick`). */
  readonly only: number | null;
  readonly scale: number;
  readonly repetitions: number;
  readonly profile: boolean;
  readonly geth: boolean;
}

export const HELP = `npm run bench -- [options]

  --quick           rows 1 to 3, fewer repetitions; under 5 minutes
  --only ROW        one row, 1 to 12 (row 2 measures row 1 too: it is its yardstick)
  --repetitions N   of each measurement; 3 by default, 1 with --quick
  --scale X         X times as many transactions (and listeners), 0.05 for a try; what it prints is not comparable unless X is 1
  --profile         a CPU profile of every service and the costliest statements of the database, beside the results;
                    this costs speed
  --geth            row 8 on a geth of the machine in place of anvil; GETH_BIN names another than the one of the path
  --help

  1  bare loop      signs and sends to the same node, and nothing else: the limit
  2  end to end     POST until MINED and CONFIRMED; 1 to 1,000 signers; one node, two nodes, batches
  3  intake alone   against a bare Fastify handler with one insert, and with none
  4  latency        accepted to broadcast to seen mined, at 10, 100 and 500 tx/s
  5  RPC latency    0, 50 and 100 ms: throughput, calls
  6  growth         1,000,000 finished; 100,000 waiting; 10,000 idle signers (needs Linux)
  7  cost           statements, commits, WAL, RPC calls and CPU per transaction (needs Linux)
  8  in flight      one signer and ten, with the defaults of execution.maxInFlight and inFlightStart
  9  telling        row 2 while one stream or one webhook is told of every event
  10 neighbour      ten signers beside one with 1,000 payloads whose estimates hang or are refused
  11 crowd          300 tx/s alone, and beside 1,000 endpoints, 1,000 streams and 10,000 long polls (needs Linux)
  12 doors          what keys and policies cost, with daily amounts and without

It starts its own PostgreSQL, chain and services, and leaves nothing running. Results (JSON, and a plot) are written to
.lockstep/bench/. Nothing else should run on the machine meanwhile.`;

/** Null when help was asked for. @throws RangeError for what cannot be meant */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      repetitions: { type: 'string' },
      scale: { type: 'string', default: '1' },
      profile: { type: 'boolean', default: false },
      geth: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const { quick, profile, geth } = values;
  return {
    quick,
    profile,
    geth,
    only: values.only === undefined ? null : numberIn('--only', values.only, 1, 12, /^\d+$/),
    repetitions: numberIn('--repetitions', values.repetitions ?? (quick ? '1' : '3'), 1, 100, /^\d+$/),
    scale: numberIn('--scale', values.scale, 0.001, 100, /^\d*\.?\d+$/),
  };
}

function numberIn(name: string, text: string, least: number, most: number, shape: RegExp): number {
  const number = Number(text);
  if (!shape.test(text) || number < least || number > most)
    throw new RangeError(`${name} takes a number from ${least} to ${most}, not ${JSON.stringify(text)}`);
  return number;
}
