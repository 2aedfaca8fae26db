import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainId } from '../../../src/kernel/signer-id.js';
import type { AskChain, ChainAnswers } from '../../../src/modules/commands/application/ask-chain.js';
import { CarryOutCommands } from '../../../src/modules/commands/application/carry-out-commands.js';
import type { CarryOutOnSlot } from '../../../src/modules/commands/application/carry-out-on-slot.js';
import type { CarriedOut, ReplaceSent } from '../../../src/modules/commands/application/replace-sent.js';
import type { SpeedUpSent } from '../../../src/modules/commands/application/speed-up-sent.js';
import type { CommandStore, Decision, Later, TxCommand } from '../../../src/modules/commands/domain/tx-command.js';
import type { BroadcastAttempts, Sending } from '../../../src/modules/sending/index.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import type { BegunWork } from '../../../src/modules/ledger/index.js';
import { bisectOnFailure } from '../../../src/platform/scheduling/bisect-on-failure.js';
import { aCommand, aManagedTx, anAttempt, aSigner } from '../../support/builders.js';
import { ModelChain } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const LEASES: Lease[] = [{ signer: aSigner(), owner: 'node', token: 1n }];
const CHAIN = new ModelChain();

/** What happened, in order. */
let steps: unknown[][];
let later: Later[];
let log: RecordingLog;
/** How a command ends; null for one that has to be tried again. */
let result: (command: TxCommand) => Decision | null;
/** What the chain says to all that is asked. */
let said: ChainAnswers;
/** What a replace stored, to be sent. */
let sending: Sending | null;
let isAway: boolean;
/** Whether a cancel needs an answer of the chain. */
let asksChain: boolean;
let carryOut: CarryOutCommands;

/** As the real one does, it repeats in halves what failed. */
const work = {
  run: async (
    _chain: ChainId,
    items: readonly TxCommand[],
    task: (leases: Lease[], some: readonly TxCommand[]) => Promise<void>,
  ) => {
    if (isAway) throw new Error('no database');
    await bisectOnFailure(
      items,
      async (some) => (await task(LEASES, some), []),
      async ({ commandId }) => void steps.push(['poisoned', commandId]),
    );
  },
} as unknown as BegunWork;

const idsOf = (commands: readonly TxCommand[]): string[] => commands.map(({ commandId }) => commandId);

beforeEach(async () => {
  [steps, later, log, isAway, asksChain] = [[], [], new RecordingLog(), false, false];
  [said, sending] = [{ quote: await CHAIN.feeQuote(), balance: null, gas: new Map() }, null];
  result = ({ commandId }) => ({ commandId, refusal: null });
  carryOut = new CarryOutCommands(
    {
      execute: async (_chain: unknown, commands: readonly TxCommand[]) => (
        steps.push(['ask', ...idsOf(commands)]),
        said
      ),
    } as unknown as AskChain,
    work,
    {
      execute: async (_leases: unknown, command: TxCommand, { quote }: ChainAnswers) => {
        steps.push([command.kind, command.commandId]);
        return asksChain && quote === null ? null : result(command);
      },
    } as unknown as CarryOutOnSlot,
    {
      execute: async (_leases: unknown, command: TxCommand, answers: ChainAnswers): Promise<CarriedOut> => {
        expect(answers).toBe(said);
        steps.push(['replace', command.commandId]);
        return { decision: result(command), sending };
      },
    } as unknown as ReplaceSent,
    {
      execute: async (_chain: unknown, _leases: unknown, commands: readonly TxCommand[], answers: ChainAnswers) => {
        expect(answers).toEqual(said);
        steps.push(['speed up', ...idsOf(commands)]);
        return commands.flatMap((command) => result(command) ?? []);
      },
    } as unknown as SpeedUpSent,
    {
      execute: async (_chain: unknown, _leases: unknown, some: readonly unknown[]) =>
        void steps.push(['send', some.length]),
    } as unknown as BroadcastAttempts,
    {
      decide: async (some: readonly Decision[]) =>
        void steps.push(['decide', ...some.map(({ commandId }) => commandId)]),
      postpone: async (some: readonly Later[]) => void later.push(...some),
    } as unknown as CommandStore,
    log,
  );
});

const aReplace = (commandId: string, overrides: Partial<TxCommand> = {}): TxCommand =>
  aCommand({ kind: 'replace', commandId, txId: `tx ${commandId}`, replacement: `new ${commandId}`, ...overrides });
const aCancel = (commandId: string, overrides: Partial<TxCommand> = {}): TxCommand =>
  aCommand({ commandId, txId: `tx ${commandId}`, ...overrides });
const aSpeedUp = (commandId: string): TxCommand => aCommand({ kind: 'speed_up', commandId, txId: commandId });
const execute = (...commands: TxCommand[]): Promise<void> => carryOut.execute(CHAIN, commands);

describe('commands of a signer', () => {
  it('are asked about in one go before they enter its lane; a cancel needs no answer and goes first', async () => {
    await execute(aReplace('a'), aCancel('b'), aSpeedUp('c'));
    expect(steps).toEqual([
      ['cancel', 'b'],
      ['decide', 'b'],
      ['ask', 'a', 'c'],
      ['replace', 'a'],
      ['speed up', 'c'],
      ['decide', 'a', 'c'],
    ]);
    expect(later).toEqual([]);
  });

  it('are asked about with the others, when a cancel of what was free needs an answer', async () => {
    asksChain = true;
    await execute(aCancel('a'), aSpeedUp('b'));
    expect(steps).toEqual([
      ['cancel', 'a'],
      ['decide'],
      ['ask', 'b', 'a'],
      ['cancel', 'a'],
      ['speed up', 'b'],
      ['decide', 'a', 'b'],
    ]);
    said = { ...said, quote: null };
    await execute(aCancel('c'));
    expect(later.map(({ id }) => id)).toEqual(['c']);
  });

  it('are in the lane in small parts, between which others have a turn', async () => {
    await execute(...Array.from({ length: 20 }, (_, n) => aCancel(`${n}`)));
    expect(steps.filter(([name]) => name === 'decide').map(({ length }) => length - 1)).toEqual([8, 8, 4]);
  });

  it('about one tx, or about its replacement, go one after the other', async () => {
    await execute(aReplace('a'), aCancel('b', { txId: 'tx a' }), aCancel('c', { txId: 'new a' }), aCancel('d'));
    expect(steps.filter(([name]) => name !== 'decide')).toEqual([
      ['cancel', 'd'],
      ['ask', 'a'],
      ['replace', 'a'],
      ['cancel', 'b'],
      ['cancel', 'c'],
    ]);
  });

  it('that replace are sent in one go, before the prices of others are raised', async () => {
    sending = { tx: aManagedTx().build(), attempt: anAttempt() };
    await execute(aReplace('a'), aSpeedUp('b'), aReplace('c'));
    expect(steps.slice(1, -1)).toEqual([
      ['replace', 'a'],
      ['replace', 'c'],
      ['send', 2],
      ['speed up', 'b'],
    ]);
  });
});

describe('a command that could not be carried out', () => {
  it('is due again later, each time after a longer pause, and the others are decided', async () => {
    result = ({ commandId }) => (commandId.startsWith('no') ? null : { commandId, refusal: 'too late' });
    await execute(aReplace('no 1'), aReplace('b'), aReplace('no 2', { tries: 4 }));
    expect(steps.at(-1)).toEqual(['decide', 'b']);
    expect(later.map(({ id }) => id)).toEqual(['no 1', 'no 2']);
    const [first, second] = later.map(({ inMs }) => inMs);
    expect([first, second]).toEqual([expect.closeTo(875, -3), expect.closeTo(14_000, -4)]);
    expect(first).toBeGreaterThanOrEqual(750);
    expect(second).toBeGreaterThanOrEqual(12_000);
  });

  it('is due again later when the chain tells no price: no speed-up is tried', async () => {
    said = { ...said, quote: null };
    await execute(aSpeedUp('a'), aCancel('b'));
    expect(steps).toEqual([['cancel', 'b'], ['decide', 'b'], ['ask', 'a'], ['decide']]);
    expect(later.map(({ id }) => id)).toEqual(['a']);
  });

  it('is due again later when it fails for a reason of its own, and the others go on', async () => {
    result = ({ commandId }) => {
      if (commandId === 'b') throw new Error('broken');
      return { commandId, refusal: null };
    };
    await execute(aCancel('a'), aCancel('b'), aCancel('c'));
    expect(steps.filter(([name]) => name === 'decide')).toEqual([
      ['decide', 'a'],
      ['decide', 'c'],
    ]);
    expect([steps.filter(([name]) => name === 'poisoned'), later.map(({ id }) => id)]).toEqual([
      [['poisoned', 'b']],
      ['b'],
    ]);
  });

  it('is due again later when nothing could be written, and the error is logged', async () => {
    isAway = true;
    await execute(aCancel('a'), aReplace('b'));
    expect(later.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(log.lines.map(({ event }) => event)).toEqual(new Array(2).fill('failed to carry out commands'));
  });
});
