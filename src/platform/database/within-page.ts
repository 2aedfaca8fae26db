import { MAX_PAGE_BYTES } from '../../kernel/page-bytes.js';

/**
 * SQL: the first of the `rows`, up to the one that makes a page too long. With their `bytes`, by which whoever makes the page has to count. Always
 * two, if there are: the first may be too long alone, and the second says that there is another page.
 * @param order of the rows, without which there is no first one @param bytes of a row
 */
export function withinPage(rows: string, { order, bytes }: { readonly order: string; readonly bytes: string }): string {
  const before = `sum(bytes) OVER (ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
  const place = `row_number() OVER (ORDER BY ${order})`;
  return `
    SELECT * FROM (SELECT r.*, coalesce(${before}, 0) AS bytes_before, ${place} AS place FROM (SELECT q.*, ${bytes} AS bytes FROM (${rows}) q) r) p
     WHERE bytes_before <= ${MAX_PAGE_BYTES} OR place <= 2 ORDER BY ${order}`;
}
