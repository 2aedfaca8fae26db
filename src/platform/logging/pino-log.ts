import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import type { LogLevel } from '../../config/index.js';
import { Log, type LogFields } from './log.js';
import { loggableFields } from './loggable.js';

/** One JSON object on a line: `level`, `time`, `msg` (the event), and the fields. */
export class PinoLog extends Log {
  private constructor(private readonly logger: Logger) {
    super();
  }

  /** Writes to standard output by default. */
  static create(level: LogLevel, destination?: DestinationStream): PinoLog {
    const options = {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
    };
    return new PinoLog(destination === undefined ? pino(options) : pino(options, destination));
  }

  debug(event: string, fields: LogFields = {}): void {
    if (this.logger.isLevelEnabled('debug')) this.logger.debug(loggableFields(fields), event);
  }

  info(event: string, fields: LogFields = {}): void {
    if (this.logger.isLevelEnabled('info')) this.logger.info(loggableFields(fields), event);
  }

  warn(event: string, fields: LogFields = {}): void {
    if (this.logger.isLevelEnabled('warn')) this.logger.warn(loggableFields(fields), event);
  }

  error(event: string, fields: LogFields = {}): void {
    if (this.logger.isLevelEnabled('error')) this.logger.error(loggableFields(fields), event);
  }

  child(fields: LogFields): PinoLog {
    return new PinoLog(this.logger.child(loggableFields(fields)));
  }
}
