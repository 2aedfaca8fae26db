import type { SqlValue } from '../../../platform/database/pg-tx.js';
import { bodyOf } from '../../events/index.js';
import type { Match } from '../domain/fan-out-log.js';

/** What the statements that insert deliveries take: each event once, and each match as the number of its event (from 1) and its endpoint. */
export function deliveryValues(matches: readonly Match[], retryForMs: number): SqlValue[] {
  const events = [...new Set(matches.map(({ event }) => event))];
  const numbers = new Map(events.map((event, at) => [event, at + 1]));
  return [
    events.map(({ position }) => position.xid.toString()),
    events.map(({ position }) => position.seq),
    events.map(({ position }) => position.part),
    events.map(({ txId }) => txId),
    events.map(({ type }) => type),
    events.map((event) => JSON.stringify(bodyOf(event))),
    events.map(({ time }) => time),
    matches.map(({ event }) => numbers.get(event) ?? 0),
    matches.map(({ endpointId }) => endpointId),
    retryForMs,
  ];
}
