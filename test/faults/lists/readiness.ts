import { faults, int } from '../fault.js';

/** What a probe says of a node. */
export const READINESS = faults(int('readiness'), [
  {
    id: 'ready-ping-locks-nothing',
    in: 'ready_ping',
    text: ' FOR KEY SHARE',
    becomes: '',
    why: 'a node whose database became read-only gets requests',
    caughtBy: int('read-only'),
  },
  {
    id: 'ready-pauses-in-any-order',
    in: 'ready_pauses',
    text: 'ORDER BY chain_id, signer LIMIT 10',
    becomes: 'ORDER BY chain_id DESC, signer DESC LIMIT 10',
    why: 'a stop of everything is not shown beside the pauses of ten signers',
  },
  {
    id: 'ready-behind-all',
    in: 'ready_behind',
    text: 'WHERE behind IS NOT NULL',
    becomes: '',
    why: 'every chain is said to be behind',
  },
  {
    id: 'ready-behind-as-one',
    in: 'ready_behind',
    text: `bool_or(behind ->> 'cause' = 'CHAIN_RESET')`,
    becomes: `bool_and(behind ->> 'cause' = 'CHAIN_RESET')`,
    why: 'a reset is told as another trouble as long as one signer has that',
  },
  {
    id: 'ready-behind-other-cause',
    in: 'ready_behind',
    text: `= 'CHAIN_RESET'`,
    becomes: `<> 'CHAIN_RESET'`,
    why: 'a reset is told as another trouble',
  },
]);
