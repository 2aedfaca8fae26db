import { ExecutionConfig, IN_FLIGHT_START as inFlightStart } from '../../src/config/index.js';
import type { Row } from '../harness/bench.js';
import { Drive, type Throughput } from '../harness/drive.js';
import { finding } from '../harness/finding.js';
import { withPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';

const { maxInFlight } = new ExecutionConfig();

/** Row 8: what one signer can do as the product is delivered. A block takes what is in flight, and no more; how much that is has been learnt. */
export const defaultInFlightRow: Row = {
  title: `one signer at the defaults of ${inFlightStart} in flight, and up to ${maxInFlight}`,
  run: (bench) =>
    withPostgres(bench.options.profile, async (postgres) => {
      const runs: Throughput[] = [];
      await bench.repeat(async (label) => {
        const name = `row 8, ${label}`;
        const config = { execution: { maxInFlight, inFlightStart } };
        const run = (): Promise<Throughput> =>
          benchStack(bench, postgres, name, { signers: 1, config }, async (stack) => {
            const drive = new Drive(stack);
            await drive.warmUp(maxInFlight);
            const result = await drive.run(bench.sizes.ofOneSigner, 'single');
            await drive.check();
            return result;
          });
        await bench.measure(name, runs, run, ({ mined }) => `${mined.toFixed(1)} mined/s`);
      });
      const mined = runs.map((each) => each.mined);
      return [
        finding(8, `1 signer, in flight ${inFlightStart} to ${maxInFlight}, blocks of 1 s, until MINED`, 'tx/s', mined),
      ];
    }),
};
