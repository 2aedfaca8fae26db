import { MAX_PAGE_BYTES } from '../../kernel/page-bytes.js';

/**
 * SQL: the first of the `rows`, up to the one that makes a page too long. With their `bytes`, by which whoever makes the page has to count.
 * @param order of the rows, without which there is no first one @param bytes of a row
 */
export function withinPage(rows: string, { order, bytes }: { readonly order: string; readonly bytes: string }): string {
  const before = `sum(bytes) OVER (ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
  return `
    SELECT * FROM (SELECT r.*, coalesce(${before}, 0) AS bytes_before FROM (SELECT q.*, ${bytes} AS bytes FROM (${rows}) q) r) p
     WHERE bytes_before <= ${MAX_PAGE_BYTES} ORDER BY ${order}`;
}
