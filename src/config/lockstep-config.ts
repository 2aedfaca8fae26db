import type { BrokerConfig } from '../sinks/event-sink.js';
import { SINK_TYPES } from '../sinks/sink-types.js';
import { Section, SectionList } from './config-fields.js';
import { AuditConfig, AuthConfig } from './sections/auth-config.js';
import { ChainConfig } from './sections/chain-config.js';
import { DatabaseConfig } from './sections/database-config.js';
import { EventsConfig, WebhooksConfig } from './sections/events-config.js';
import { LimitsConfig } from './sections/limits-config.js';
import { LoggingConfig, MetricsConfig, NodeConfig, ServerConfig } from './sections/process-config.js';
import { ConfirmationsConfig, ResubmitConfig, TransactionsConfig } from './sections/settlement-config.js';
import { ExecutionConfig, IntakeConfig, LeaseConfig, NonceConfig, WorkerConfig } from './sections/work-config.js';

/** The whole configuration. Every key has a default except `database.url` and `chains`. */
export class LockstepConfig {
  @Section(ServerConfig)
  server = new ServerConfig();

  @Section(AuthConfig)
  auth = new AuthConfig();

  @Section(AuditConfig)
  audit = new AuditConfig();

  @Section(LimitsConfig)
  limits = new LimitsConfig();

  @Section(NodeConfig)
  node = new NodeConfig();

  @Section(DatabaseConfig)
  database = new DatabaseConfig();

  @Section(LeaseConfig)
  lease = new LeaseConfig();

  @Section(ExecutionConfig)
  execution = new ExecutionConfig();

  @Section(WorkerConfig)
  worker = new WorkerConfig();

  @Section(IntakeConfig)
  intake = new IntakeConfig();

  @Section(NonceConfig)
  nonce = new NonceConfig();

  @Section(ResubmitConfig)
  resubmit = new ResubmitConfig();

  @Section(ConfirmationsConfig)
  confirmations = new ConfirmationsConfig();

  @Section(EventsConfig)
  events = new EventsConfig();

  @Section(TransactionsConfig)
  transactions = new TransactionsConfig();

  @Section(WebhooksConfig)
  webhooks = new WebhooksConfig();

  @Section({ by: 'type', types: SINK_TYPES, off: 'none' })
  broker?: BrokerConfig;

  @Section(LoggingConfig)
  logging = new LoggingConfig();

  @Section(MetricsConfig)
  metrics = new MetricsConfig();

  @SectionList(ChainConfig, { required: true })
  chains: ChainConfig[] = [];
}

export * from './sections/auth-config.js';
export * from './sections/chain-config.js';
export * from './sections/database-config.js';
export * from './sections/events-config.js';
export * from './sections/limits-config.js';
export * from './sections/process-config.js';
export * from './sections/settlement-config.js';
export * from './sections/work-config.js';
