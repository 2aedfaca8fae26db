import type { Log, LogFields } from '../../../src/platform/logging/log.js';
import { PinoLog } from '../../../src/platform/logging/pino-log.js';
import type { LogLevel } from '../../../src/config/index.js';

/** A real log whose lines can be read back. */
export function readableLog(level: LogLevel = 'debug'): { log: Log; lines: LogFields[] } {
  const lines: LogFields[] = [];
  const log = PinoLog.create(level, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}
