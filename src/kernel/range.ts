/** The numbers from `from` to `to`, both included; none when `to` is below `from`. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}
