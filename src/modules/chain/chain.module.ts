import { Module } from '@nestjs/common';
import { ChainRules } from './application/chain-rules.js';
import { ProtocolRules } from './application/protocol-rules.js';
import { FinalityRule } from './application/finality-rule.js';
import { HeadTracker } from './application/head-tracker.js';
import { SecondObservations } from './application/second-observations.js';
import { VerifiedReceipts } from './application/verified-receipts.js';
import { BlockStore } from './domain/block-store.js';
import { Chains } from './domain/chain-connector.js';
import { RpcHealth } from './domain/endpoint-status.js';
import { BlockHousekeeping } from './infrastructure/block-housekeeping.js';
import { ChainProbes } from './infrastructure/chain-probes.js';
import { ConfiguredChains } from './infrastructure/configured-chains.js';
import { EndpointGrace } from './infrastructure/endpoint-grace.js';
import { NewHeads } from './infrastructure/new-heads.js';
import { PgBlockStore } from './infrastructure/pg-block-store.js';

@Module({
  providers: [
    BlockHousekeeping,
    ChainProbes,
    ConfiguredChains,
    EndpointGrace,
    HeadTracker,
    NewHeads,
    ChainRules,
    ProtocolRules,
    FinalityRule,
    SecondObservations,
    VerifiedReceipts,
    { provide: BlockStore, useClass: PgBlockStore },
    { provide: Chains, useExisting: ConfiguredChains },
    { provide: RpcHealth, useExisting: ConfiguredChains },
  ],
  exports: [
    Chains,
    ChainProbes,
    BlockStore,
    HeadTracker,
    NewHeads,
    RpcHealth,
    ChainRules,
    ProtocolRules,
    FinalityRule,
    SecondObservations,
    VerifiedReceipts,
  ],
})
export class ChainModule {}
