import { behindRow, type EventPosition, type PublicEvent } from '../../events/index.js';

/**
 * Up to where the log is published when only the first `stored` events are: behind the last row of which all events are among them. Null
 * when there is none.
 */
export function placeBefore(events: readonly PublicEvent[], stored: number): EventPosition | null {
  const next = events[stored]?.position;
  const whole = events.slice(0, stored).filter(({ position: { xid, seq } }) => xid !== next?.xid || seq !== next.seq);
  const last = whole.at(-1)?.position;
  return last === undefined ? null : behindRow(last.xid, last.seq);
}
