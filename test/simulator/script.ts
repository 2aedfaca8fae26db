import * as actions from './actions.js';
import { cancel, pauseSigner, replace, speedUp } from './command-actions.js';
import { NETWORK_ACTIONS, networkScript, type Script } from './network-script.js';
import type { Random } from './random.js';
import { create } from './requests.js';

const NODES: Script = [
  { weight: 22, value: create },
  { weight: 26, value: actions.work },
  { weight: 14, value: actions.workWithMishap },
  { weight: 9, value: actions.takeover },
  { weight: 6, value: actions.race },
  { weight: 6, value: actions.resume },
  { weight: 2, value: actions.kill },
  { weight: 2, value: actions.restart },
  { weight: 3, value: actions.expire },
  { weight: 3, value: actions.quickBlock },
  { weight: 3, value: actions.takeFreeSlot },
  { weight: 5, value: actions.timersRunOut },
  { weight: 4, value: actions.goOn },
  { weight: 5, value: cancel },
  { weight: 5, value: replace },
  { weight: 3, value: speedUp },
  { weight: 2, value: pauseSigner },
];

/** Of what the network does, among the others. */
const NETWORK_WEIGHT = 48;

/** What may happen next in one seed, by weight. */
export function scriptOf(random: Random): Script {
  const network = networkScript(random);
  const total = network.reduce((sum, { weight }) => sum + weight, 0);
  return [...NODES, ...network.map(({ weight, value }) => ({ value, weight: (weight * NETWORK_WEIGHT) / total }))];
}

export const ACTIONS = [...NODES.map(({ value }) => value.name), ...NETWORK_ACTIONS];
