import { parseArgs } from 'node:util';

export const USAGE = 'npm run simulate -- [--seeds COUNT] [--from SEED] [--coverage]';

export interface SimulateOptions {
  /** How many, one after the other. */
  readonly seeds: number;
  /** The first: any number of 64 bits. */
  readonly from: bigint;
  /** Whether everything on the list of what must happen has to. */
  readonly coverage: boolean;
}

/** What is wrong with the command line, in one line. */
export class BadOption extends Error {}

/** @throws BadOption */
export function parseOptions(args: readonly string[]): SimulateOptions {
  const { seeds, from, coverage } = read(args);
  if (!/^\d{1,9}$/.test(seeds)) throw new BadOption(`--seeds takes a whole number, not ${JSON.stringify(seeds)}`);
  if (!/^-?\d{1,20}$/.test(from) || !hasSixtyFourBits(BigInt(from)))
    throw new BadOption(`--from takes a whole number of at most 64 bits, not ${JSON.stringify(from)}`);
  return { seeds: Number(seeds), from: BigInt(from), coverage };
}

function read(args: readonly string[]): { seeds: string; from: string; coverage: boolean } {
  try {
    const options = {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      coverage: { type: 'boolean', default: false },
    } as const;
    return parseArgs({ args: joined(args), options }).values;
  } catch (error) {
    // Node explains at length; its first sentence says what is wrong.
    throw new BadOption(error instanceof Error ? (error.message.split(/\.\s|\n/)[0] ?? '') : String(error));
  }
}

/** `--from -5` as `--from=-5`: a negative number would be taken for another option. */
function joined(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (/^-\d+$/.test(args[index + 1] ?? '') && arg.startsWith('--')) return [`${arg}=${args[index + 1]}`];
    return /^-\d+$/.test(arg) && index > 0 ? [] : [arg];
  });
}

function hasSixtyFourBits(seed: bigint): boolean {
  return seed === BigInt.asIntN(64, seed) || seed === BigInt.asUintN(64, seed);
}
