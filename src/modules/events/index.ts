export { EventBell } from './application/event-bell.js';
export { EventTimes } from './application/event-times.js';
export { type HistoryEntry, MAX_HISTORY_PAGE, TxHistory } from './application/tx-history.js';
export {
  behindRow,
  comparePositions,
  eventId,
  type EventPosition,
  LOG_BEGINNING,
  parseEventId,
} from './domain/event-position.js';
export { type EventPage, EventReader } from './domain/event-reader.js';
export { PUBLIC_EVENT_TYPES, type PublicEvent, type PublicEventType } from './domain/public-event.js';
export { EVENT_REFERENCE, type EventDocument, eventDocument } from './domain/event-webhooks.js';
export { bodyOf } from './domain/publish.js';
export { EventLog } from './domain/event-log.js';
export type { EventReason, SignerEvent, SignerEventReason, TxEvent } from './domain/tx-event.js';
export { NEXT_XID } from './infrastructure/pg-event-log.js';
