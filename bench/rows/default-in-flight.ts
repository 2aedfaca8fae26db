import { ExecutionConfig, IN_FLIGHT_START as inFlightStart } from '../../src/config/index.js';
import type { Row } from '../harness/bench.js';
import { Drive, type Throughput } from '../harness/drive.js';
import { finding } from '../harness/finding.js';
import { withPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';

const { maxInFlight } = new ExecutionConfig();

/** A limit that is learnt lets about so many times more of one signer into a block. */
const MORE = 8;
const SIGNERS = [1, 10];
/** What one signer is to reach at the defaults. */
const OF_ONE_SIGNER = { of: 'value', bound: 'at least', limit: 450 } as const;

/** Row 8: what few signers can do as the product is delivered. A block takes what is in flight, and no more; how much that is has been learnt. */
export const defaultInFlightRow: Row = {
  title: `one signer and ten at the defaults of ${inFlightStart} in flight, and up to ${maxInFlight}`,
  run: (bench) =>
    withPostgres(bench.options.profile, async (postgres) => {
      const ways = SIGNERS.map((signers) => ({ signers, fixed: [] as Throughput[], learnt: [] as Throughput[] }));
      const measure = (name: string, runs: Throughput[], signers: number, execution: object, transactions: number) =>
        bench.measure(
          name,
          runs,
          () =>
            benchStack(
              bench,
              postgres,
              name,
              { signers, config: { execution }, onGeth: bench.options.geth },
              async (stack) => {
                const drive = new Drive(stack);
                await drive.warmUp(maxInFlight);
                const result = await drive.run(transactions, 'single');
                await drive.check();
                return result;
              },
            ),
          ({ mined }) => `${mined.toFixed(1)} mined/s`,
        );
      await bench.repeat(async (label) => {
        const { ofOneSigner } = bench.sizes;
        for (const { signers, fixed, learnt } of ways) {
          const name = `row 8, ${signers} signer(s), ${label}`;
          const old = { maxInFlight: inFlightStart };
          await measure(`${name}, ${inFlightStart} in flight`, fixed, signers, old, ofOneSigner * signers);
          await measure(`${name}, learnt`, learnt, signers, { maxInFlight, inFlightStart }, ofOneSigner * MORE);
        }
      });
      return ways.map(({ signers, fixed, learnt }) =>
        finding(
          8,
          `${signers} signer(s), in flight ${inFlightStart} to ${maxInFlight}, blocks of 1 s, until MINED`,
          'tx/s',
          learnt.map(({ mined }) => mined),
          {
            yardstick: { name: `${inFlightStart} in flight, always`, samples: fixed.map(({ mined }) => mined) },
            ...(signers === 1 && { target: OF_ONE_SIGNER }),
          },
        ),
      );
    }),
};
