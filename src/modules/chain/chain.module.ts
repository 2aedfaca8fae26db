import { Module } from '@nestjs/common';
import { FollowChain } from './application/follow-chain.js';
import { BlockStore } from './domain/block-store.js';
import { Chains } from './domain/chain-connector.js';
import { RpcHealth } from './domain/endpoint-status.js';
import { ConfiguredChains } from './infrastructure/configured-chains.js';
import { NewHeads } from './infrastructure/new-heads.js';
import { PgBlockStore } from './infrastructure/pg-block-store.js';

@Module({
  providers: [
    ConfiguredChains,
    FollowChain,
    NewHeads,
    { provide: BlockStore, useClass: PgBlockStore },
    { provide: Chains, useExisting: ConfiguredChains },
    { provide: RpcHealth, useExisting: ConfiguredChains },
  ],
  exports: [Chains, BlockStore, FollowChain, NewHeads, RpcHealth],
})
export class ChainModule {}
