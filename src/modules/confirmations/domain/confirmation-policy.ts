/**
 * Highest block whose transactions are final: `required` further blocks lie on top of it. With `required` 0 the head itself
 * is final.
 */
export function finalUpTo(head: number, required: number): number {
  return head - required;
}
