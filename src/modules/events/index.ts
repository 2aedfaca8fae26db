export { type HistoryEntry, MAX_HISTORY_PAGE, TxHistory } from './application/tx-history.js';
export { EventLog } from './domain/event-log.js';
export type { EventReason, SignerEvent, SignerEventReason, TxEvent } from './domain/tx-event.js';
