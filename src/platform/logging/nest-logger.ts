import type { LoggerService } from '@nestjs/common';
import type { Log, LogFields } from './log.js';

/** Nest logs each step of its own start at `log` level, which operators do not need. */
const BOOT_CONTEXTS: ReadonlySet<string> = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** Writes Nest's logs as the same JSON lines as ours. */
export class NestLogger implements LoggerService {
  constructor(private readonly target: Log) {}

  log(message: unknown, ...rest: unknown[]): void {
    const { event, fields, context } = lineOf(message, rest);
    if (BOOT_CONTEXTS.has(context)) this.target.debug(event, fields);
    else this.target.info(event, fields);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    const { event, fields } = lineOf(message, rest);
    this.target.debug(event, fields);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.debug(message, ...rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    const { event, fields } = lineOf(message, rest);
    this.target.warn(event, fields);
  }

  error(message: unknown, ...rest: unknown[]): void {
    const { event, fields } = lineOf(message, rest);
    this.target.error(event, fields);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.error(message, ...rest);
  }
}

/** Nest passes `(message, ...details, context)`: the context is the last text, details may be a stack or objects. */
function lineOf(message: unknown, rest: unknown[]): { event: string; fields: LogFields; context: string } {
  const last = rest.at(-1);
  const context = typeof last === 'string' ? last : 'Nest';
  const details = (typeof last === 'string' ? rest.slice(0, -1) : rest).filter((detail) => detail !== undefined);
  const isText = typeof message === 'string';
  const fields = {
    context,
    ...(isText ? {} : message instanceof Error ? { error: message } : { detail: message }),
    ...(details.length === 0 ? {} : { details }),
  };
  return { event: isText ? message : message instanceof Error ? message.message : 'nest', fields, context };
}
