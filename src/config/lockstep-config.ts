import { Section, SectionList } from './config-fields.js';
import { BrokerConfig } from './sections/broker-config.js';
import { ChainConfig } from './sections/chain-config.js';
import { DatabaseConfig } from './sections/database-config.js';
import { EventsConfig } from './sections/events-config.js';
import { LeaseConfig } from './sections/lease-config.js';
import { NodeConfig } from './sections/node-config.js';
import { NonceConfig } from './sections/nonce-config.js';
import { LoggingConfig, MetricsConfig } from './sections/observability-config.js';
import { ServerConfig } from './sections/server-config.js';
import { ConfirmationsConfig, ResubmitConfig } from './sections/settlement-config.js';
import { TransactionsConfig } from './sections/transactions-config.js';
import { WebhooksConfig } from './sections/webhooks-config.js';
import { ExecutionConfig, IntakeConfig, WorkerConfig } from './sections/workload-config.js';

/** The whole configuration. Every key has a default except `database.url` and `chains`. */
export class LockstepConfig {
  @Section(ServerConfig)
  server = new ServerConfig();

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

  @Section(BrokerConfig)
  broker = new BrokerConfig();

  @Section(LoggingConfig)
  logging = new LoggingConfig();

  @Section(MetricsConfig)
  metrics = new MetricsConfig();

  @SectionList(ChainConfig, { required: true })
  chains: ChainConfig[] = [];
}

export { ChainConfig, ChainConfirmationsConfig, ChainFeesConfig, ErrorPatternConfig } from './sections/chain-config.js';
export { NonceChainQueryConfig, type NonceQueryMode } from './sections/nonce-config.js';
export { NodeConfig, type NodeRole } from './sections/node-config.js';
export { LOG_LEVELS, type LogLevel } from './sections/observability-config.js';
export { FINALITY_MODES, type FinalityMode } from './sections/settlement-config.js';
export { MnemonicSignerConfig, PrivateKeySignerConfig, type SignerConfig } from './sections/signer-config.js';
export {
  BrokerConfig,
  ConfirmationsConfig,
  DatabaseConfig,
  EventsConfig,
  ExecutionConfig,
  IntakeConfig,
  LeaseConfig,
  LoggingConfig,
  MetricsConfig,
  NonceConfig,
  ResubmitConfig,
  ServerConfig,
  TransactionsConfig,
  WebhooksConfig,
  WorkerConfig,
};
