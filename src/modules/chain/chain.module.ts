import { Module } from '@nestjs/common';
import { ChainRules } from './application/chain-rules.js';
import { FinalityRule } from './application/finality-rule.js';
import { HeadTracker } from './application/head-tracker.js';
import { SecondObservations } from './application/second-observations.js';
import { BlockStore } from './domain/block-store.js';
import { Chains } from './domain/chain-connector.js';
import { RpcHealth } from './domain/endpoint-status.js';
import { ConfiguredChains } from './infrastructure/configured-chains.js';
import { NewHeads } from './infrastructure/new-heads.js';
import { PgBlockStore } from './infrastructure/pg-block-store.js';

@Module({
  providers: [
    ConfiguredChains,
    HeadTracker,
    NewHeads,
    ChainRules,
    FinalityRule,
    SecondObservations,
    { provide: BlockStore, useClass: PgBlockStore },
    { provide: Chains, useExisting: ConfiguredChains },
    { provide: RpcHealth, useExisting: ConfiguredChains },
  ],
  exports: [Chains, BlockStore, HeadTracker, NewHeads, RpcHealth, ChainRules, FinalityRule, SecondObservations],
})
export class ChainModule {}
