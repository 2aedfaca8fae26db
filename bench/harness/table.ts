import type { Finding, Target } from './finding.js';
import type { Spread } from './spread.js';

const HEADINGS = ['row', 'what', 'measured', '(min - max)', 'unit', 'yardstick', 'ratio', 'target', 'met'];
const TO_THE_RIGHT = new Set([0, 2, 6]);

/** One line for each finding. */
export function table(findings: readonly Finding[]): string {
  const lines = [HEADINGS, ...findings.map(cells)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  const [heading = '', ...body] = lines.map((line) => aligned(line, widths));
  return [heading, rule, ...body].join('\n');
}

function aligned(line: readonly string[], widths: readonly number[]): string {
  return line
    .map((cell, column) => {
      const width = widths[column] ?? 0;
      return TO_THE_RIGHT.has(column) ? cell.padStart(width) : cell.padEnd(width);
    })
    .join('  ')
    .trimEnd();
}

function cells({ row, what, unit, measured, yardstick, ratio, target, met }: Finding): string[] {
  return [
    String(row),
    what,
    inDigits(measured.median),
    range(measured),
    unit,
    yardstick ? `${yardstick.name} ${inDigits(yardstick.value.median)}` : '',
    ratio === null ? '' : inDigits(ratio),
    target ? targetText(target, unit) : '',
    met === null ? '' : met ? 'yes' : 'NO',
  ];
}

function range({ min, max, samples }: Spread): string {
  if (samples.length === 0) return '';
  return samples.length > 1 ? `(${inDigits(min)} - ${inDigits(max)})` : '(once)';
}

export function targetText({ of, bound, limit }: Target, unit: string): string {
  return of === 'ratio' ? `ratio ${bound} ${limit}` : `${bound} ${limit} ${unit}`;
}

/** Three digits that count. */
export function inDigits(value: number): string {
  if (Number.isNaN(value)) return 'failed';
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}
