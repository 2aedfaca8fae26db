import * as actions from './actions.js';
import { cancel, pauseSigner, replace, speedUp } from './command-actions.js';
import { NETWORK_ACTIONS, networkScript, type Script } from './network-script.js';
import { failOver, fallBehind } from './failover-actions.js';
import { favour } from './favoured-actions.js';
import type { Play } from './play.js';
import type { Random } from './random.js';
import { create } from './requests.js';

const NODES: Script = [
  { weight: 22, value: create },
  { weight: 26, value: actions.work },
  { weight: 12, value: actions.workWithMishap },
  { weight: 5, value: actions.loseAnswer },
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
  { weight: 5, value: fallBehind },
  { weight: 6, value: failOver },
];

/** With webhook endpoints. */
const RECEIVERS: Script = [{ weight: 12, value: actions.deliver }];

/** With outside senders. */
const OUTSIDE: Script = [{ weight: 40, value: actions.outside }];

/** Where answers of the database are lost: what gives up a nonce for which nothing was sent. */
const UNANSWERED: Script = [{ weight: 30, value: cancel }];

/** Where one rare thing is to happen more often. */
const FAVOURED: Script = [{ weight: 16, value: favour }];

/** Of what the network does, among the others. */
const NETWORK_WEIGHT = 48;

/** What may happen next in one seed, by weight. */
export function scriptOf(random: Random, { hasReceivers, hasOutside, unanswered, favourite }: Play): Script {
  const network = networkScript(random);
  const total = network.reduce((sum, { weight }) => sum + weight, 0);
  return [
    ...NODES,
    ...network.map(({ weight, value }) => ({ value, weight: (weight * NETWORK_WEIGHT) / total })),
    ...(hasReceivers ? RECEIVERS : []),
    ...(hasOutside === true ? OUTSIDE : []),
    ...(unanswered !== undefined ? UNANSWERED : []),
    ...(favourite !== undefined ? FAVOURED : []),
  ];
}

export const ACTIONS = [
  ...[...NODES, ...RECEIVERS, ...OUTSIDE, ...FAVOURED].map(({ value }) => value.name),
  ...NETWORK_ACTIONS,
];
