export { type HistoryEntry, MAX_HISTORY_PAGE, TxHistory } from './application/tx-history.js';
export { type EventAuthor, EventLog } from './domain/event-log.js';
export { EVENT_REASONS, type EventReason, type TxEvent } from './domain/tx-event.js';
