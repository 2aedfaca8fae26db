import { bareLoop } from '../harness/bare-loop.js';
import type { Bench, Row } from '../harness/bench.js';
import { type Finding, finding } from '../harness/finding.js';

export const SIGNER_COUNTS = [1, 10, 100, 1_000] as const;

/** Row 1: the limit. */
export const bareLoopRow: Row = {
  title: 'bare loop',
  async run(bench) {
    const all = SIGNER_COUNTS.map((signers): { signers: number; rates: number[] } => ({ signers, rates: [] }));
    await bench.repeat(async (label) => {
      for (const { signers, rates } of all) await measureBareLoop(bench, signers, label, rates);
    });
    return all.map(({ signers, rates }) => bareLoopFinding(signers, rates));
  },
};

export function measureBareLoop(bench: Bench, signers: number, label: string, rates: number[]): Promise<void> {
  return bench.measure(
    `row 1, ${plural(signers)}, bare loop, ${label}`,
    rates,
    () => bareLoop(signers, bench.sizes.bareTransactions),
    (rate) => `${rate.toFixed(0)} tx/s`,
  );
}

export function bareLoopFinding(signers: number, rates: readonly number[]): Finding {
  return finding(1, `bare loop, ${plural(signers)}`, 'tx/s', rates);
}

export function plural(signers: number): string {
  return signers === 1 ? '1 signer' : `${signers} signers`;
}
