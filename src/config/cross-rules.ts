import type { ConfigMistake } from './config-mistakes.js';
import type { LockstepConfig } from './lockstep-config.js';

/** Checks rules that concern several keys. */
export function crossMistakes(config: LockstepConfig): ConfigMistake[] {
  return [
    ...leaseMistakes(config),
    ...forwardMistakes(config),
    ...databaseMistakes(config),
    ...brokerMistakes(config),
    ...chainMistakes(config),
  ];
}

function leaseMistakes({ lease }: LockstepConfig): ConfigMistake[] {
  if (lease.renewInterval < lease.duration / 2) return [];
  const problem = `must be below half of lease.duration (${lease.duration}ms), so that one lost renewal does not lose the lease`;
  return [{ path: 'lease.renewInterval', problem }];
}

function forwardMistakes({ intake, node }: LockstepConfig): ConfigMistake[] {
  if (intake.notLeader !== 'forward') return [];
  return (['advertisedUrl', 'forwardSecret'] as const)
    .filter((key) => node[key] === undefined)
    .map((key) => ({ path: `node.${key}`, problem: 'is needed for intake.notLeader: forward' }));
}

function databaseMistakes({ database, lease }: LockstepConfig): ConfigMistake[] {
  return (['statementTimeout', 'lockTimeout', 'idleInTransactionTimeout'] as const)
    .filter((key) => database[key] >= lease.duration)
    .map((key) => ({
      path: `database.${key}`,
      problem: `must be below lease.duration (${lease.duration}ms), or a stuck transaction blocks a takeover`,
    }));
}

function brokerMistakes({ broker }: LockstepConfig): ConfigMistake[] {
  const mistakes: ConfigMistake[] = [];
  const given = (['user', 'token', 'creds'] as const).filter((key) => broker[key] !== undefined);
  if (given.length > 1)
    mistakes.push({ path: `broker.${given[1]}`, problem: `cannot be given together with broker.${given[0]}` });
  if ((broker.user === undefined) !== (broker.password === undefined))
    mistakes.push({ path: 'broker.password', problem: 'and broker.user are given together, or neither' });
  return mistakes;
}

function chainMistakes({ chains }: LockstepConfig): ConfigMistake[] {
  return chains.flatMap(({ id }, index) => {
    const first = chains.findIndex((chain) => chain.id === id);
    return first === index
      ? []
      : [{ path: `chains[${index}].id`, problem: `is the same as chains[${first}].id: a chain is listed once` }];
  });
}
