import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { threadId } from 'node:worker_threads';

/*
 * Loaded before the service by `--profile`: a CPU profile of each of its threads, written when it ends. Node's own
 * --cpu-prof would do it, but Node 20 does not take that from NODE_OPTIONS.
 */

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.start');
process.once('exit', () => {
  // Answered before `post` returns, as the session is in this very thread.
  session.post('Profiler.stop', (error, answer) => {
    const file = `${process.env.BENCH_PROFILE}-${process.pid}-thread-${threadId}.cpuprofile`;
    if (!error) writeFileSync(file, JSON.stringify(answer.profile));
  });
});
