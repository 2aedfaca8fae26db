// With `--import`, prints how long the main thread of this process could not look at its event loop, when that is long: in milliseconds, of which `cpuMs` on the CPU.
import { openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const LONG_MS = 20;
/** Of the main thread alone: what the process uses has its garbage collector and compiler in it, which run beside the loop. Linux. */
const schedule = openSync('/proc/self/schedstat', 'r');
const text = Buffer.alloc(64);
const onCpuMs = () => Number(text.toString('latin1', 0, readSync(schedule, text, 0, 64, 0)).split(' ', 1)[0]) / 1e6;
let last = performance.now();
let cpu = onCpuMs();

setInterval(() => {
  const now = performance.now();
  const cpuNow = onCpuMs();
  const ms = now - last - 1;
  // Other threads load it, too; that of the KZG library is busy for seconds at its start.
  if (isMainThread && ms >= LONG_MS) {
    const cpuMs = Math.round(cpuNow - cpu);
    process.stdout.write(`${JSON.stringify({ msg: 'loop delay', ms: Math.round(ms), cpuMs, at: Date.now() })}\n`);
  }
  [last, cpu] = [now, cpuNow];
}, 1).unref();
