import { Choice, Flag } from '../config-fields.js';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export class LoggingConfig {
  @Choice(LOG_LEVELS)
  level: LogLevel = 'info';
}

export class MetricsConfig {
  /** Label metrics with signer addresses; turn off with very many signers. */
  @Flag()
  signerLabels = true;
}
