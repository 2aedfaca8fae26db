import { Injectable, Module } from '@nestjs/common';
import { type EventPosition, EventReader, LOG_BEGINNING } from '../../../src/modules/events/index.js';
import { EventsModule } from '../../../src/modules/events/events.module.js';
import { TxQueries } from '../../../src/modules/ledger/index.js';
import { LedgerModule } from '../../../src/modules/ledger/ledger.module.js';

/** Counts the public events by their type. */
@Injectable()
export class CountEvents {
  readonly counts = new Map<string, number>();
  private place: EventPosition = LOG_BEGINNING;

  constructor(
    private readonly events: EventReader,
    readonly txs: TxQueries,
  ) {}

  async execute(): Promise<void> {
    const { events, next } = await this.events.page(this.place, 100);
    for (const { type } of events) this.counts.set(type, (this.counts.get(type) ?? 0) + 1);
    this.place = next;
  }
}

@Module({ imports: [EventsModule, LedgerModule], providers: [CountEvents] })
export class ToyModule {}
