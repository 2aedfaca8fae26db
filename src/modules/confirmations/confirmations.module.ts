import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { LostCommitsModule } from '../lost-commits/lost-commits.module.js';
import { NoncesModule } from '../nonces/nonces.module.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { LookUpReceipts } from './application/look-up-receipts.js';
import { CheckReceipts, PostponeReceiptChecks } from './application/check-receipts.js';
import { ReopenFinal, ReopenTxs } from './application/reopen-final.js';
import { LateReserves } from './application/late-reserves.js';
import { SettleTxs } from './application/settle-txs.js';
import { SuspectBlocks } from './application/suspect-blocks.js';
import { ApplyChainUpdate } from './application/apply-chain-update.js';
import { ChainActivity, HeadTrackingDuty } from './application/head-tracking-duty.js';
import { PgChainActivity } from './infrastructure/pg-chain-activity.js';
import { MatchAttempts, RecheckReceipts } from './application/match-attempts.js';
import { RealBlocks, RecordMined } from './application/record-mined.js';
import { FindReorgedFinals } from './application/find-reorged-finals.js';
import { Finalizer } from './application/finalizer.js';
import { ConfirmationManager } from './infrastructure/confirmation-manager.js';
import { ReceiptChecker } from './infrastructure/receipt-checker.js';

@Module({
  imports: [ChainModule, SignersModule, PoliciesModule, LedgerModule, LostCommitsModule, NoncesModule],
  providers: [
    ApplyChainUpdate,
    LookUpReceipts,
    PostponeReceiptChecks,
    ReopenTxs,
    LateReserves,
    SettleTxs,
    SuspectBlocks,
    RecheckReceipts,
    HeadTrackingDuty,
    { provide: ChainActivity, useClass: PgChainActivity },
    CheckReceipts,
    MatchAttempts,
    RealBlocks,
    RecordMined,
    FindReorgedFinals,
    ReopenFinal,
    Finalizer,
    ConfirmationManager,
    ReceiptChecker,
  ],
})
export class ConfirmationsModule {}
