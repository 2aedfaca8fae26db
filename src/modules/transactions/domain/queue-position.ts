/** The order of txs that were not tried: by priority, highest first, then by id, which begins with its time. */
export interface QueuePosition {
  readonly priority: number;
  readonly txId: string;
}

/** Hexadecimal digits of the milliseconds at the start of a UUIDv7. */
const TIME_DIGITS = 12;

/** The position of a tx that has the same priority and is this many milliseconds older. */
export function olderBy(ms: number, { priority, txId }: QueuePosition): QueuePosition {
  const time = Number.parseInt(txId.replaceAll('-', '').slice(0, TIME_DIGITS), 16);
  const digits = Math.max(0, time - ms)
    .toString(16)
    .padStart(TIME_DIGITS, '0');
  return { priority, txId: `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000` };
}
