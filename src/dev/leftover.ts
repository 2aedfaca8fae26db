import { poll } from './poll.js';
import { isStillRunning, type ProcessIdentity } from './process-identity.js';

/** Ends a process whose launcher was killed. It is not our child, so its end can only be polled. */
export async function stopLeftover(identity: ProcessIdentity, signal: NodeJS.Signals, graceMs = 20_000): Promise<void> {
  if (await endedAfter(identity, signal, graceMs)) return;
  await endedAfter(identity, 'SIGKILL', 5_000);
}

async function endedAfter(identity: ProcessIdentity, signal: NodeJS.Signals, graceMs: number): Promise<boolean> {
  if (!isStillRunning(identity)) return true;
  try {
    process.kill(identity.pid, signal);
  } catch {
    return !isStillRunning(identity);
  }
  const ended = await poll(graceMs, () => Promise.resolve(isStillRunning(identity) ? null : true));
  return ended === true;
}
