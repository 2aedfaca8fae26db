import type { Bench } from '../harness/bench.js';
import { residentOf } from '../harness/cpu-time.js';
import { Drive } from '../harness/drive.js';
import { type Finding, finding, value } from '../harness/finding.js';
import type { BenchPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';

interface Waiting {
  /** Transactions per second until MINED, from the start of the service. */
  readonly mined: number;
  /** Bytes. */
  readonly peak: number;
}

/** A queue of 100,000 on one signer that a fresh service finds, against a short one that comes while it runs. */
export async function amongWaiting(bench: Bench, postgres: BenchPostgres): Promise<Finding[]> {
  const { waiting, fewer, warmUp } = bench.sizes;
  const queued: Waiting[] = [];
  const short: number[] = [];
  await bench.measure(
    'row 6, 1 signer, short queue',
    short,
    () =>
      benchStack(bench, postgres, 'row 6, short queue', { signers: 1 }, async (stack) => {
        const drive = new Drive(stack);
        await drive.warmUp(warmUp);
        const { mined } = await drive.run(fewer);
        await drive.check();
        return mined;
      }),
    (rate) => `${rate.toFixed(0)} mined/s`,
  );
  await bench.measure(
    `row 6, ${waiting} waiting on 1 signer`,
    queued,
    () => drain(bench, postgres, waiting),
    ({ mined, peak }) => `${mined.toFixed(0)} mined/s, ${inMegabytes(peak).toFixed(0)} MB at most`,
  );
  const what = `${waiting} waiting on 1 signer`;
  const rates = queued.map(({ mined }) => mined);
  const memory = queued.map(({ peak }) => inMegabytes(peak));
  return [
    finding(6, `${what}, until MINED`, 'tx/s', rates, { yardstick: { name: 'short queue', samples: short } }),
    finding(6, `${what}, resident memory at most`, 'MB', memory, { target: value('below', 400) }),
  ];
}

/** Nodes that only take requests build the queue. */
function drain(bench: Bench, postgres: BenchPostgres, waiting: number): Promise<Waiting> {
  const options = { signers: 1, config: { node: { role: 'api' } } };
  return benchStack(bench, postgres, 'row 6, waiting', options, async (stack) => {
    const drive = new Drive(stack);
    await drive.post(waiting, 'batch');
    await stack.stopServices();
    const mark = await stack.log.mark();
    const start = Date.now();
    await stack.startServices();
    await drive.allFinal(waiting);
    const { transactions, last } = await stack.log.reached('mined', mark);
    if (transactions < waiting)
      throw new Error(`${waiting} waited, and became: ${JSON.stringify(await stack.log.states())}`);
    const { peak } = residentOf(stack.service.pid);
    await drive.check();
    return { mined: (waiting * 1000) / (last - start), peak };
  });
}

function inMegabytes(bytes: number): number {
  return bytes / 1e6;
}
