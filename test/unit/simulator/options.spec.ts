import { describe, expect, it } from '@jest/globals';
import { BadOption, parseOptions } from '../../simulator/options.js';
import { foldSeed } from '../../simulator/random.js';

describe('the options of npm run simulate', () => {
  it('are 1,000 seeds from 1 unless others are asked for', () => {
    expect(parseOptions([])).toEqual({ seeds: 1_000, from: 1n, coverage: false });
    expect(parseOptions(['--seeds', '5', '--from', '77'])).toEqual({ seeds: 5, from: 77n, coverage: false });
    expect(parseOptions(['--from=77'])).toEqual({ seeds: 1_000, from: 77n, coverage: false });
  });

  it('have a check of what the seeds exercised', () => {
    expect(parseOptions(['--coverage', '--seeds', '5'])).toEqual({ seeds: 5, from: 1n, coverage: true });
  });

  it.each(['0', '4294967296', '9007199254740993', '18446744073709551615', '-1', '-9223372036854775808'])(
    'take any seed of 64 bits: %s',
    (seed) => expect(parseOptions(['--from', seed]).from).toBe(BigInt(seed)),
  );

  it.each([
    [['--from'], /--from/],
    [['--from', 'x'], /--from takes a whole number of at most 64 bits, not "x"/],
    [['--from', '18446744073709551616'], /at most 64 bits/],
    [['--from', '-9223372036854775809'], /at most 64 bits/],
    [['--from', '1.5'], /at most 64 bits/],
    [['--seeds', '-1'], /--seeds takes a whole number, not "-1"/],
    [['--seeds', ''], /--seeds takes a whole number/],
    [['--seedz', '3'], /--seedz/],
    [['extra'], /extra/],
  ])('that are wrong are named in one line: %j', (args, words) => {
    expect(() => parseOptions(args)).toThrow(BadOption);
    expect(() => parseOptions(args)).toThrow(words);
    expect(() => parseOptions(args)).not.toThrow(/\n/);
  });
});

describe('a seed of 64 bits', () => {
  it('is itself where it fits into the 32 bits of a run, so that known seeds go as before', () => {
    expect([0n, 1n, 12_345n, 2n ** 32n - 1n].map(foldSeed)).toEqual([0, 1, 12_345, 2 ** 32 - 1]);
  });

  it('differs from its neighbours, and in every half', () => {
    const seeds = [1n, 2n ** 32n + 1n, 2n ** 33n + 1n, 2n ** 64n - 1n, -1n, 2n ** 63n].map(foldSeed);
    // Minus one and 2^64 - 1 are the same 64 bits.
    expect(new Set(seeds).size).toBe(5);
    for (const seed of seeds) expect(Number.isSafeInteger(seed) && seed >= 0 && seed < 2 ** 32).toBe(true);
  });
});
