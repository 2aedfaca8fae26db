import { Global, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Tickers } from './tickers.js';

/** Nest's scheduler, which runs every `@Interval`, and our tickers, which its registry lists. */
@Global()
@Module({ imports: [ScheduleModule.forRoot()], providers: [Tickers], exports: [Tickers] })
export class SchedulingModule {}
