import { inspect } from 'node:util';
import { Clock } from '../../src/kernel/clock.js';
import { CrashPoints } from '../../src/kernel/crash-points.js';
import { Doorbell } from '../../src/modules/ledger/application/writing/doorbell.js';
import { Log, type LogFields } from '../../src/platform/logging/log.js';
import type { Excuses } from './excuses.js';
import type { Gate } from './gate.js';
import type { Seen } from './seen.js';
import { Violation } from './violation.js';

/** Time of a node stands still, unless the simulation moves it: a paused owner believes in its lease for ever. */
export class SimClock extends Clock {
  private elapsedMs = 1_000_000;

  now(): Date {
    return new Date(this.elapsedMs);
  }

  monotonicMs(): number {
    return this.elapsedMs;
  }

  advance(ms: number): void {
    this.elapsedMs += ms;
  }
}

export class GateCrashPoints extends CrashPoints {
  constructor(private readonly gate: Gate) {
    super();
  }

  reached(point: string): void {
    this.gate.passAtOnce(point);
  }
}

export class SilentDoorbell extends Doorbell {
  ring(): void {
    // The simulation says who steps, and when.
  }
}

/** Keeps what the product itself calls a bug. */
export class WatchfulLog extends Log {
  constructor(
    private readonly found: Violation[],
    private readonly seen: Seen,
    private readonly excuses: Excuses,
  ) {
    super();
  }

  debug(event: string): void {
    this.seen.note(`log ${event}`);
  }

  info(event: string, fields?: LogFields): void {
    this.seen.note(`log ${event}`);
    if (Number(fields?.['unsigned']) > 0) this.seen.note('recovery of slots without an attempt');
    if (Number(fields?.['resent']) > 0) this.seen.note('recovery of attempts that may be out');
  }

  warn(event: string, fields?: LogFields): void {
    this.error(event, fields);
  }

  error(event: string, fields?: LogFields): void {
    this.seen.note(`log ${event}`);
    const error = fields?.['error'];
    if (error instanceof Error) this.excuses.judge(error, event);
    if (event === 'transaction mined that had ended' && !this.excuses.excuseMined(String(fields?.['txHash'])))
      this.found.push(new Violation('I8', `${event}: ${inspect(fields)}`));
  }

  child(): Log {
    return this;
  }
}
