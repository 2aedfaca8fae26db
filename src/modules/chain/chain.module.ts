import { Module } from '@nestjs/common';
import { FollowChain } from './application/follow-chain.js';
import { BlockStore } from './domain/block-store.js';
import { Chains } from './domain/chain-connector.js';
import { RpcHealth } from './domain/endpoint-status.js';
import { ConfiguredChains } from './infrastructure/configured-chains.js';
import { PgBlockStore } from './infrastructure/pg-block-store.js';

@Module({
  providers: [
    ConfiguredChains,
    FollowChain,
    { provide: BlockStore, useClass: PgBlockStore },
    { provide: Chains, useExisting: ConfiguredChains },
    { provide: RpcHealth, useExisting: ConfiguredChains },
  ],
  exports: [Chains, BlockStore, FollowChain, RpcHealth],
})
export class ChainModule {}
