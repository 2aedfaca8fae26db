/** Of one page of a list. A single longer tx still makes a page. */
const MAX_PAGE_BYTES = 1024 * 1024;

/** About how many bytes a row `t` of managed_tx takes in an answer. Call data is shown in hexadecimal. */
export const VIEW_BYTES = `
  1000 + 2 * octet_length(t.data) + coalesce(octet_length(t.metadata::text), 0) + coalesce(octet_length(t.receipt::text), 0)
       + octet_length(t.options::text)
       + coalesce(octet_length(t.failure_reason), 0) + coalesce(octet_length(t.last_error), 0)`;

export interface SizedRow {
  readonly id: string;
  readonly bytes: number;
}

/** The longest first part of the rows that fits one page; at least one row, if there is one. */
export function pageOf(rows: readonly SizedRow[], limit: number): readonly SizedRow[] {
  let bytes = 0;
  const end = rows.slice(0, limit).findIndex((row, index) => {
    bytes += row.bytes;
    return index > 0 && bytes > MAX_PAGE_BYTES;
  });
  return rows.slice(0, end === -1 ? limit : end);
}
