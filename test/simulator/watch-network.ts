import type { Network } from './network/network.js';
import type { LieKind, View } from './network/view.js';
import type { Snapshot } from './snapshot.js';

/** Whether a view has this lie in it, whatever other one is in it besides. */
const IS_TOLD = {
  'far ahead': ({ ahead }) => ahead > 1_000,
  ahead: ({ ahead, denies }) => ahead > 0 && ahead < 1_000 && denies === 'none',
  'ahead without us': ({ ahead, denies, counts }) => ahead > 0 && denies === 'all' && counts > 0n,
  'nonces without us': ({ ahead, denies, counts }) => ahead === 0 && denies === 'all' && counts > 0n,
  'no receipts': ({ denies, counts }) => denies !== 'none' && counts <= 0n,
  counts: ({ denies, counts }) => counts !== 0n && denies === 'none',
  'another branch': ({ branch }) => branch !== null,
  'other receipts': ({ flips }) => flips,
  'receipts of its own': ({ invents }) => invents,
  fees: ({ fees }) => fees !== 1n,
  reverts: ({ reverts }) => reverts,
} as const satisfies Record<LieKind, (view: View) => boolean>;

export const LIE_KINDS = Object.keys(IS_TOLD) as LieKind[];

/** What is wrong with the endpoints now, while nodes ask them. */
export function noteTroubles({ endpoints, seen }: Network): void {
  for (const { outage, isolated, view } of endpoints) {
    if (outage !== null) seen.note(`outage ${outage}`);
    if (isolated) seen.note('endpoint isolated');
    if (view.behind > 0) seen.note('endpoint late');
    if (view.kept < Infinity) seen.note('endpoint pruned');
    if (view.otherChain) seen.note('endpoint of another chain');
    for (const kind of LIE_KINDS) if (IS_TOLD[kind](view)) seen.note(`lie ${kind}`);
  }
}

/** What was wrong with the payloads of a run. */
export function noteCurses({ curses, seen }: Network, { txs }: Snapshot): void {
  for (const { data } of txs) {
    const curse = curses.past(data);
    if (!curse) continue;
    seen.note(`curse ${curse.words.class}`);
    seen.note(`curse ${curse.start}`);
    seen.note(`curse by ${curse.only === null ? 'all' : 'one endpoint'}`);
    seen.note(`curse ${curse.times === Infinity ? 'for ever' : 'at times'}`);
  }
}
