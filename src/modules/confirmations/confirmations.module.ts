import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { NoncesModule } from '../nonces/nonces.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { TransactionsModule } from '../transactions/transactions.module.js';
import { ApplyChainUpdate } from './application/apply-chain-update.js';
import { ChainActivity } from './application/chain-activity.js';
import { HeadTrackingDuty } from './application/head-tracking-duty.js';
import { PgChainActivity } from './infrastructure/pg-chain-activity.js';
import { RecheckReceipts } from './application/recheck-receipts.js';
import { CheckReceipts } from './application/check-receipts.js';
import { MatchAttempts } from './application/match-attempts.js';
import { ReadReceipts } from './application/read-receipts.js';
import { ReceiptMetrics } from './application/receipt-metrics.js';
import { RecordMined } from './application/record-mined.js';
import { FindReorgedFinals } from './application/find-reorged-finals.js';
import { ReopenFinal } from './application/reopen-final.js';
import { Finalizer } from './application/finalizer.js';
import { ConfirmationManager } from './infrastructure/confirmation-manager.js';
import { PromReceiptMetrics } from './infrastructure/prom-receipt-metrics.js';
import { ReceiptChecker } from './infrastructure/receipt-checker.js';

@Module({
  imports: [ChainModule, SignersModule, TransactionsModule, NoncesModule],
  providers: [
    ApplyChainUpdate,
    RecheckReceipts,
    HeadTrackingDuty,
    { provide: ChainActivity, useClass: PgChainActivity },
    CheckReceipts,
    MatchAttempts,
    ReadReceipts,
    RecordMined,
    FindReorgedFinals,
    ReopenFinal,
    Finalizer,
    ConfirmationManager,
    ReceiptChecker,
    { provide: ReceiptMetrics, useClass: PromReceiptMetrics },
  ],
})
export class ConfirmationsModule {}
