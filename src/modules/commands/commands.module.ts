import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { EventsModule } from '../events/events.module.js';
import { LostCommitsModule } from '../lost-commits/lost-commits.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { AskChain } from './application/ask-chain.js';
import { CarryOutCommands } from './application/carry-out-commands.js';
import { CloseHold } from './application/close-hold.js';
import { CarryOutOnSlot } from './application/carry-out-on-slot.js';
import { CloseExpired } from './application/close-expired.js';
import { CloseUnwanted } from './application/close-unwanted.js';
import { ConsumeHold } from './application/consume-hold.js';
import { ExecuteCommands } from './application/execute-commands.js';
import { PriceReplacement } from './application/price-replacement.js';
import { ReplaceSent } from './application/replace-sent.js';
import { ReplacementGate } from './application/replacement-gate.js';
import { SpeedUpSent } from './application/speed-up-sent.js';
import { SubmitCommand } from './application/submit-command.js';
import { CommandStore } from './domain/tx-command.js';
import { CommandScheduler } from './infrastructure/command-scheduler.js';
import { AnswerCommand } from './infrastructure/http/answer-command.js';
import { CommandsController } from './infrastructure/http/commands.controller.js';
import { HoldCommandsController } from './infrastructure/http/hold-commands.controller.js';
import { PgCommandStore } from './infrastructure/pg-command-store.js';

@Module({
  imports: [
    ChainModule,
    EventsModule,
    LostCommitsModule,
    SignersModule,
    PoliciesModule,
    LedgerModule,
    RequestsModule,
    SendingModule,
  ],
  controllers: [CommandsController, HoldCommandsController],
  providers: [
    SubmitCommand,
    ExecuteCommands,
    CarryOutCommands,
    CarryOutOnSlot,
    ConsumeHold,
    CloseHold,
    AnswerCommand,
    AskChain,
    ReplaceSent,
    ReplacementGate,
    PriceReplacement,
    SpeedUpSent,
    CloseUnwanted,
    CloseExpired,
    CommandScheduler,
    { provide: CommandStore, useClass: PgCommandStore },
  ],
  exports: [SubmitCommand],
})
export class CommandsModule {}
