import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { TransactionsModule } from '../transactions/transactions.module.js';
import { ApplyChainUpdate } from './application/apply-chain-update.js';
import { ChainActivity } from './application/chain-activity.js';
import { FollowDuty } from './application/follow-duty.js';
import { PgChainActivity } from './infrastructure/pg-chain-activity.js';
import { AskAgain } from './application/ask-again.js';
import { CheckReceipts } from './application/check-receipts.js';
import { MatchBlocks } from './application/match-blocks.js';
import { MoveTaken } from './application/move-taken.js';
import { ReadReceipts } from './application/read-receipts.js';
import { ReceiptMetrics } from './application/receipt-metrics.js';
import { RecordMined } from './application/record-mined.js';
import { OrphanedFinals } from './application/orphaned-finals.js';
import { ReopenFinal } from './application/reopen-final.js';
import { ReopenSlots } from './application/reopen-slots.js';
import { SettleMined } from './application/settle-mined.js';
import { ConfirmationManager } from './infrastructure/confirmation-manager.js';
import { PromReceiptMetrics } from './infrastructure/prom-receipt-metrics.js';
import { ReceiptChecker } from './infrastructure/receipt-checker.js';

@Module({
  imports: [ChainModule, SignersModule, TransactionsModule],
  providers: [
    ApplyChainUpdate,
    AskAgain,
    FollowDuty,
    { provide: ChainActivity, useClass: PgChainActivity },
    CheckReceipts,
    MatchBlocks,
    MoveTaken,
    ReadReceipts,
    RecordMined,
    OrphanedFinals,
    ReopenFinal,
    ReopenSlots,
    SettleMined,
    ConfirmationManager,
    ReceiptChecker,
    { provide: ReceiptMetrics, useClass: PromReceiptMetrics },
  ],
})
export class ConfirmationsModule {}
