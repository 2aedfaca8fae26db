import { beforeEach, describe, expect, it } from '@jest/globals';
import { type SignerId, signerKey } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import type { CarryOutCommands } from '../../../src/modules/commands/application/carry-out-commands.js';
import { ExecuteCommands } from '../../../src/modules/commands/application/execute-commands.js';
import type { CommandStore, TxCommand } from '../../../src/modules/commands/domain/tx-command.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import { aCommand, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { ModelChain } from '../../support/model-chain.js';

const [A, B] = [aSigner(1), aSigner(2)];
const CHAIN = new ModelChain();
const leaseOf = (signer: SignerId): Lease => ({ signer, owner: 'node', token: 1n });

let held: Lease[];
let queued: TxCommand[];
let asked: string[][];
/** By signer, how many commands were carried out at once. */
let carriedOut: [string, number][];
let carryOut: (commands: readonly TxCommand[]) => Promise<void>;
let execute: ExecuteCommands;

const commands = (signer: SignerId, count: number): TxCommand[] =>
  Array.from({ length: count }, (_, n) => aCommand({ signer, commandId: `${signerKey(signer)} ${n}`, txId: `${n}` }));

beforeEach(() => {
  [held, queued, asked, carriedOut] = [[A, B].map(leaseOf), [], [], []];
  carryOut = () => Promise.resolve();
  execute = new ExecuteCommands(
    { heldOn: () => held } as unknown as LeaseManager,
    {
      queued: async (_chain: unknown, signers: readonly string[], perSigner: number) => {
        asked.push([...signers]);
        return signers.flatMap((signer) =>
          queued.filter(({ signer: { address } }) => address === signer).slice(0, perSigner),
        );
      },
    } as unknown as CommandStore,
    { get: () => CHAIN } as unknown as Chains,
    {
      execute: async (chain: unknown, own: readonly TxCommand[]) => {
        expect(chain).toBe(CHAIN);
        carriedOut.push([own[0]?.signer.address ?? '', own.length]);
        await carryOut(own);
      },
    } as unknown as CarryOutCommands,
  );
});

describe('the commands that wait', () => {
  it('are carried out for the signers whose leases this node has, each signer by itself', async () => {
    queued = [...commands(A, 2), ...commands(B, 1)];
    await execute.execute(DEV_CHAIN);
    expect(carriedOut).toEqual([
      [A.address, 2],
      [B.address, 1],
    ]);
    held = [];
    await execute.execute(DEV_CHAIN);
    expect(carriedOut).toHaveLength(2);
  });

  it('are taken in turn: a thousand of one signer leave room for the one of another', async () => {
    queued = [...commands(A, 1_000), ...commands(B, 1)];
    await execute.execute(DEV_CHAIN);
    expect(new Map(carriedOut)).toEqual(
      new Map([
        [A.address, 199],
        [B.address, 1],
      ]),
    );
  });

  it('of one signer that fail do not keep those of another from being carried out', async () => {
    queued = [...commands(A, 1), ...commands(B, 1)];
    carryOut = async ([first]) => {
      if (first?.signer === A) throw new Error('broken');
    };
    await expect(execute.execute(DEV_CHAIN)).rejects.toThrow('broken');
    expect(carriedOut).toHaveLength(2);
  });

  it('of a signer whose chain gives no answer hold up no later ones of others, and are not begun twice', async () => {
    queued = [...commands(A, 1), ...commands(B, 1)];
    let answer = (): void => undefined;
    carryOut = ([first]) =>
      first?.signer === A ? new Promise<void>((resolve) => (answer = resolve)) : Promise.resolve();
    const hanging = execute.execute(DEV_CHAIN);
    await new Promise(setImmediate);
    await execute.execute(DEV_CHAIN);
    expect(asked.at(-1)).toEqual([B.address]);
    expect(carriedOut.map(([address]) => address)).toEqual([A, B, B].map(({ address }) => address));
    carryOut = () => Promise.resolve();
    answer();
    await hanging;
    await execute.execute(DEV_CHAIN);
    expect(carriedOut.map(([address]) => address).slice(3)).toEqual([A.address, B.address]);
  });
});
