import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainId } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import { ExecuteCommands } from '../../../src/modules/commands/application/execute-commands.js';
import type { CommandSteps } from '../../../src/modules/commands/application/command-steps.js';
import type { CommandStore } from '../../../src/modules/commands/domain/command-store.js';
import type { Decision, TxCommand } from '../../../src/modules/commands/domain/tx-command.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import type { LeasedWork } from '../../../src/modules/transactions/index.js';
import { bisectOnFailure } from '../../../src/platform/scheduling/bisect-on-failure.js';
import { aCommand, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { ModelChain } from '../../support/model-chain.js';

const SIGNER = aSigner();
const LEASES: Lease[] = [{ signer: SIGNER, owner: 'node', token: 1n }];
const CHAIN = new ModelChain();

let held: Lease[];
let queued: TxCommand[];
let asked: unknown[][];
let carriedOut: string[];
let decided: Decision[];
let poisoned: string[];
/** What comes of a command; null for one that has to be tried again. */
let result: (command: TxCommand) => Decision | null;
let execute: ExecuteCommands;

/** As the real one does, it repeats in halves what failed. */
const work = {
  run: async (
    _chain: ChainId,
    items: readonly TxCommand[],
    task: (leases: Lease[], some: readonly TxCommand[]) => Promise<void>,
  ) =>
    bisectOnFailure(
      items,
      async (some) => (await task(LEASES, some), []),
      async ({ commandId }) => void poisoned.push(commandId),
    ),
} as unknown as LeasedWork;

const commands = (...ids: string[]): TxCommand[] => ids.map((commandId) => aCommand({ commandId, txId: commandId }));

beforeEach(() => {
  [held, queued] = [LEASES, commands('a', 'b', 'c')];
  [asked, carriedOut, decided, poisoned] = [[], [], [], []];
  result = ({ commandId }) => ({ commandId, refusal: null });
  execute = new ExecuteCommands(
    { heldOn: () => held } as unknown as LeaseManager,
    {
      queued: async (...args: unknown[]) => (asked.push(args), queued),
      decide: async (some: readonly Decision[]) => void decided.push(...some),
    } as unknown as CommandStore,
    work,
    {
      execute: async (chain: unknown, leases: unknown, command: TxCommand) => {
        expect([chain, leases]).toEqual([CHAIN, LEASES]);
        const decision = result(command);
        carriedOut.push(command.commandId);
        return decision;
      },
    } as unknown as CommandSteps,
    { get: () => CHAIN } as unknown as Chains,
  );
});

describe('the commands that wait', () => {
  it('are read for the signers whose leases this node has, and carried out in order', async () => {
    await execute.execute(DEV_CHAIN);
    expect(asked).toEqual([[DEV_CHAIN, [SIGNER], 200]]);
    expect(carriedOut).toEqual(['a', 'b', 'c']);
    expect(decided).toEqual(['a', 'b', 'c'].map((commandId) => ({ commandId, refusal: null })));
  });

  it('are decided one by one: what was carried out before a failure is not left waiting', async () => {
    let failures = 0;
    result = ({ commandId }) => {
      if (commandId === 'b' && (failures += 1) > 0) throw new Error('broken');
      return { commandId, refusal: null };
    };
    await execute.execute(DEV_CHAIN);
    expect(decided.map(({ commandId }) => commandId)).toEqual(['a', 'c']);
    expect(poisoned).toEqual(['b']);
  });

  it('are each carried out once, although others beside them fail: a speed-up raises the price each time', async () => {
    result = ({ commandId }) => {
      if (commandId === 'c') throw new Error('broken');
      return { commandId, refusal: null };
    };
    await execute.execute(DEV_CHAIN);
    expect(carriedOut).toEqual(['a', 'b']);
  });

  it('keep waiting when they have to be tried again, and the others go on', async () => {
    result = ({ commandId }) => (commandId === 'a' ? null : { commandId, refusal: 'too late' });
    await execute.execute(DEV_CHAIN);
    expect(decided).toEqual(['b', 'c'].map((commandId) => ({ commandId, refusal: 'too late' })));
  });

  it('are not read on a chain on which this node has no lease', async () => {
    held = [];
    await execute.execute(DEV_CHAIN);
    expect([asked, carriedOut]).toEqual([[], []]);
  });
});
