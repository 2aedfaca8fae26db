import type { Finding } from './finding.js';
import { inDigits, targetText } from './table.js';

interface Bar {
  readonly label: string;
  /** Of the room there is, 0 to 1. */
  readonly share: number;
  readonly color: string;
  readonly words: string;
}

const WIDTH = 1000;
const LABELS = 340;
const WORDS = 230;
const ROOM = WIDTH - LABELS - WORDS;
const LINE = 22;
const MARGIN = 24;
const GREEN = '#2a7d4f';
const RED = '#c0392b';
const BLUE = '#34699a';
const GREY = '#8a8f98';

/** An SVG of two charts: what is done in a second, and how far each figure is from its target. */
export function plot(findings: readonly Finding[]): string {
  const rates = ratesOf(findings);
  const aims = aimsOf(findings);
  const top = MARGIN + LINE;
  const secondTop = top + (rates.length + 2) * LINE;
  const height = secondTop + (aims.length + 1) * LINE + MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="white"/>',
    ...chart('Transactions per second', rates, top),
    ...chart('Against the target (at the line; further to the right is better)', aims, secondTop),
    mark(LABELS + ROOM / 2, secondTop + LINE / 2, secondTop + (aims.length + 1) * LINE),
    '</svg>',
    '',
  ].join('\n');
}

function ratesOf(findings: readonly Finding[]): Bar[] {
  const rates = findings.filter(
    ({ unit, row, measured }) => unit === 'tx/s' && row <= 2 && measured.samples.length > 0,
  );
  const most = Math.max(...rates.map(({ measured }) => measured.median));
  return rates.map(({ row, what, measured: { median, min, max } }) => ({
    label: what,
    share: median / most,
    color: row === 1 ? GREY : BLUE,
    words: `${inDigits(median)} (${inDigits(min)} - ${inDigits(max)})`,
  }));
}

/** The target is in the middle. "At most" is turned round, so that right is always better. */
function aimsOf(findings: readonly Finding[]): Bar[] {
  return findings.flatMap(({ row, what, unit, measured, ratio, target, met }) => {
    const reached = target?.of === 'ratio' ? ratio : measured.median;
    if (!target || reached === null || Number.isNaN(reached)) return [];
    const upward = target.bound === 'at least' || target.bound === 'above';
    const times = upward ? reached / target.limit : target.limit / reached;
    const words = `${inDigits(reached)}, ${targetText(target, unit)}`;
    return { label: `${row}  ${what}`, share: Math.min(1, times / 2), color: met ? GREEN : RED, words };
  });
}

function chart(title: string, bars: readonly Bar[], top: number): string[] {
  return [
    text(MARGIN, top, title, 'start', ' font-weight="bold"'),
    ...bars.flatMap(({ label, share, color, words }, place) => {
      const y = top + (place + 1) * LINE;
      const width = Math.max(1, share * ROOM).toFixed(1);
      return [
        text(LABELS - 8, y, label, 'end'),
        `<rect x="${LABELS}" y="${y - 12}" width="${width}" height="16" fill="${color}"/>`,
        text(LABELS + ROOM + 8, y, words, 'start'),
      ];
    }),
  ];
}

function mark(x: number, from: number, to: number): string {
  return `<line x1="${x}" y1="${from}" x2="${x}" y2="${to}" stroke="black" stroke-dasharray="4 3"/>`;
}

function text(x: number, y: number, content: string, anchor: 'start' | 'end', more = ''): string {
  const safe = content.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${more}>${safe}</text>`;
}
