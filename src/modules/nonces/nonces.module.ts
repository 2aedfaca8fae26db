import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { LostCommitsModule } from '../lost-commits/lost-commits.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { TransactionsModule } from '../transactions/transactions.module.js';
import { AlignNonces } from './application/align-nonces.js';
import { CreateFills } from './application/create-fills.js';
import { FillNonceGaps } from './application/fill-nonce-gaps.js';
import { FindFreedNonces } from './application/find-freed-nonces.js';
import { ForeignNonces } from './application/foreign-nonces.js';
import { FreeNonceGaps } from './application/free-nonce-gaps.js';
import { ReassignNonces } from './application/reassign-nonces.js';
import { ReopenNonces } from './application/reopen-nonces.js';
import { StalledNonces } from './application/stalled-nonces.js';
import { SyncSigner } from './application/sync-signer.js';
import { SignerNoncesController } from './infrastructure/http/signer-nonces.controller.js';

@Module({
  imports: [ChainModule, SignersModule, TransactionsModule, SendingModule, LostCommitsModule],
  controllers: [SignerNoncesController],
  providers: [
    AlignNonces,
    CreateFills,
    FillNonceGaps,
    FindFreedNonces,
    StalledNonces,
    ForeignNonces,
    FreeNonceGaps,
    ReassignNonces,
    ReopenNonces,
    SyncSigner,
  ],
  exports: [AlignNonces, FillNonceGaps, FreeNonceGaps, ReassignNonces, ReopenNonces],
})
export class NoncesModule {}
