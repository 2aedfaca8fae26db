import { type CrashPoint, CrashPoints } from '../../kernel/crash-points.js';

/**
 * `LOCKSTEP_CRASH_AT=after_sign` kills this process the first time it reaches that point, `after_sign:3` the third time. Like kill -9: no
 * handler runs, nothing is flushed.
 */
export class EnvironmentCrashPoints extends CrashPoints {
  private readonly point: string | undefined;
  private remaining: number;

  constructor(setting: string | undefined = process.env['LOCKSTEP_CRASH_AT']) {
    super();
    const [point, times = '1'] = setting?.split(':') ?? [];
    this.point = point;
    this.remaining = Number(times);
  }

  reached(point: CrashPoint): void {
    if (point !== this.point) return;
    this.remaining -= 1;
    if (this.remaining === 0) process.kill(process.pid, 'SIGKILL');
  }
}
