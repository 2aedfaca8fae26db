import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { EventsModule } from '../events/events.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { TransactionsModule } from '../transactions/transactions.module.js';
import { CancelSent } from './application/cancel-sent.js';
import { CloseExpired } from './application/close-expired.js';
import { CloseUnwanted } from './application/close-unwanted.js';
import { CommandSteps } from './application/command-steps.js';
import { ExecuteCommands } from './application/execute-commands.js';
import { PriceReplacement } from './application/price-replacement.js';
import { ReplaceSent } from './application/replace-sent.js';
import { SpeedUpSent } from './application/speed-up-sent.js';
import { SubmitCommand } from './application/submit-command.js';
import { CommandStore } from './domain/command-store.js';
import { CommandScheduler } from './infrastructure/command-scheduler.js';
import { CommandsController } from './infrastructure/http/commands.controller.js';
import { PgCommandStore } from './infrastructure/pg-command-store.js';

@Module({
  imports: [ChainModule, EventsModule, SignersModule, TransactionsModule, SendingModule],
  controllers: [CommandsController],
  providers: [
    SubmitCommand,
    ExecuteCommands,
    CommandSteps,
    CancelSent,
    ReplaceSent,
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
