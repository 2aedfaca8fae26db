import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { NoncesModule } from '../nonces/nonces.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { TransactionsModule } from '../transactions/transactions.module.js';
import { AskOrphaned } from './application/ask-orphaned.js';
import { CanonicalBlocks } from './application/canonical-blocks.js';
import { FinalityEvidence } from './application/finality-evidence.js';
import { DueReceipts } from './application/due-receipts.js';
import { LookUpReceipts } from './application/look-up-receipts.js';
import { PostponeReceiptChecks } from './application/postpone-receipt-checks.js';
import { ProvenFinality } from './application/proven-finality.js';
import { ReopenTxs } from './application/reopen-txs.js';
import { SettleTxs } from './application/settle-txs.js';
import { SuspectBlocks } from './application/suspect-blocks.js';
import { ApplyChainUpdate } from './application/apply-chain-update.js';
import { ChainActivity } from './application/chain-activity.js';
import { HeadTrackingDuty } from './application/head-tracking-duty.js';
import { PgChainActivity } from './infrastructure/pg-chain-activity.js';
import { RecheckReceipts } from './application/recheck-receipts.js';
import { CheckReceipts } from './application/check-receipts.js';
import { MatchAttempts } from './application/match-attempts.js';
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
    AskOrphaned,
    CanonicalBlocks,
    DueReceipts,
    FinalityEvidence,
    LookUpReceipts,
    PostponeReceiptChecks,
    ProvenFinality,
    ReopenTxs,
    SettleTxs,
    SuspectBlocks,
    RecheckReceipts,
    HeadTrackingDuty,
    { provide: ChainActivity, useClass: PgChainActivity },
    CheckReceipts,
    MatchAttempts,
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
