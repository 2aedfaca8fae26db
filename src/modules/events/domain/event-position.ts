/**
 * The place of a public event in the log. `xid` is that of the database transaction that wrote its row, or of a later one (see `NEXT_XID`).
 * `part` counts the public events of one row.
 */
export interface EventPosition {
  readonly xid: bigint;
  readonly seq: bigint;
  readonly part: number;
}

/** Before all events. */
export const LOG_BEGINNING: EventPosition = { xid: 0n, seq: 0n, part: 0 };

/** Above every part of a row. */
export const LAST_PART = 9;

/** Behind all events of a row. */
export function behindRow(xid: bigint | string, seq: bigint | string): EventPosition {
  return { xid: BigInt(xid), seq: BigInt(seq), part: LAST_PART };
}

/** The id of the event at a position, such as `1234-56-0`. */
export function eventId({ xid, seq, part }: EventPosition): string {
  return `${xid}-${seq}-${part}`;
}

/** Null when it is not the id of an event. */
export function parseEventId(text: string): EventPosition | null {
  const [, xid, seq, part] = /^(\d{1,19})-(\d{1,18})-(\d)$/.exec(text) ?? [];
  if (xid === undefined || seq === undefined || part === undefined) return null;
  return { xid: BigInt(xid), seq: BigInt(seq), part: Number(part) };
}

/** Negative when `a` is before `b`. */
export function comparePositions(a: EventPosition, b: EventPosition): number {
  if (a.xid !== b.xid) return a.xid < b.xid ? -1 : 1;
  if (a.seq !== b.seq) return a.seq < b.seq ? -1 : 1;
  return a.part - b.part;
}
