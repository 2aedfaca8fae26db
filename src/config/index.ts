export { type AllowedTarget, parseAllowedTargets } from './allowed-target.js';
export { ConfigInvalid, formatConfigMistakes, type ConfigMistake } from './config-mistakes.js';
export { ConfigModule } from './config.module.js';
export { configFrom, loadConfig, type ConfigSources } from './load-config.js';
export * from './lockstep-config.js';
export * from './chains/chain-in-force.js';
export type { FeeType } from './chains/chain-profile.js';
