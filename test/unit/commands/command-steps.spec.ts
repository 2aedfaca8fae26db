import { expect, it } from '@jest/globals';
import { CommandSteps } from '../../../src/modules/commands/application/command-steps.js';
import type { CancelSent } from '../../../src/modules/commands/application/cancel-sent.js';
import type { ReplaceSent } from '../../../src/modules/commands/application/replace-sent.js';
import type { SpeedUpSent } from '../../../src/modules/commands/application/speed-up-sent.js';
import { COMMAND_KINDS } from '../../../src/modules/commands/domain/tx-command.js';
import { aCommand, aSigner } from '../../support/builders.js';
import { ModelChain } from '../../support/model-chain.js';

const LEASES = [{ signer: aSigner(), owner: 'node', token: 1n }];
const CHAIN = new ModelChain();

it.each(COMMAND_KINDS)('a %s is carried out by its own use-case, and its decision is passed on', async (kind) => {
  const calls: [string, ...unknown[]][] = [];
  const step = (name: string) => ({
    execute: async (...args: unknown[]) => (calls.push([name, ...args]), { commandId: name, refusal: null }),
  });
  const steps = new CommandSteps(
    step('cancel') as unknown as CancelSent,
    step('replace') as unknown as ReplaceSent,
    step('speed_up') as unknown as SpeedUpSent,
  );
  const command = aCommand({ kind });
  expect(await steps.execute(CHAIN, LEASES, command)).toEqual({ commandId: kind, refusal: null });
  const needs = kind === 'cancel' ? [LEASES, command] : [CHAIN, LEASES, command];
  expect(calls).toEqual([[kind, ...needs]]);
});

it('a replace that has to be tried again has no decision', async () => {
  const later = { execute: async () => null } as unknown as ReplaceSent;
  const steps = new CommandSteps(null as unknown as CancelSent, later, null as unknown as SpeedUpSent);
  expect(await steps.execute(CHAIN, LEASES, aCommand({ kind: 'replace' }))).toBeNull();
});
