import type { Action } from './actions.js';
import { lag, lie, trouble } from './endpoint-actions.js';
import { moveMoney, moveTags, swingFees } from './market-actions.js';
import { deepReorg, dropPool, foreign, gossip, mine, reorg, weather } from './network-actions.js';
import type { Random } from './random.js';

export type Script = readonly { readonly weight: number; readonly value: Action }[];

const ALWAYS: Script = [
  { weight: 12, value: mine },
  { weight: 3, value: gossip },
];
const AT_TIMES: Script = [
  { weight: 4, value: reorg },
  { weight: 3, value: deepReorg },
  { weight: 2, value: dropPool },
  { weight: 4, value: foreign },
  { weight: 6, value: trouble },
  { weight: 3, value: lag },
  { weight: 6, value: lie },
  { weight: 3, value: weather },
  { weight: 3, value: moveTags },
  { weight: 3, value: swingFees },
  { weight: 3, value: moveMoney },
];
/** How much more a world has of its favourites, so that what is rare comes often somewhere. */
const FAVOURED = 5;
const FAVOURITES = 3;

/** What happens outside of the nodes of one seed. */
export function networkScript(random: Random): Script {
  const favourites = Array.from({ length: FAVOURITES }, () => random.pick(AT_TIMES));
  return [
    ...ALWAYS,
    ...AT_TIMES.map((each) => (favourites.includes(each) ? { ...each, weight: FAVOURED * each.weight } : each)),
  ];
}

export const NETWORK_ACTIONS = [...ALWAYS, ...AT_TIMES].map(({ value }) => value.name);
