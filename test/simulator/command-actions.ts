import { ANYONE, DEFAULT_ACCOUNT } from '../../src/kernel/caller.js';
import { Conflict } from '../../src/kernel/errors.js';
import { parseHex } from '../../src/kernel/hex.js';
import { PauseSigner } from '../../src/modules/ops/application/pause-signer.js';
import { ResumeSigner } from '../../src/modules/ops/application/resume-signer.js';
import { type CommandInput, SubmitCommand } from '../../src/modules/commands/application/submit-command.js';
import type { PauseScope } from '../../src/modules/signers/index.js';
import type { CommandKind } from '../../src/modules/commands/domain/tx-command.js';
import { aHash, aPauseOrder, aRequest } from '../support/builders.js';
import { afflict } from './payloads.js';
import type { SimNode } from './sim-node.js';
import type { TxRow } from './snapshot.js';
import { Violation } from './violation.js';
import type { World } from './world.js';

/** Calldata of replacements begins where that of requests never comes to. */
const FIRST_REPLACEMENT = 0x0100_0000;
/** Whose all requests are. */
export const THE_ACCOUNT: PauseScope = {
  chainId: null,
  address: null,
  account: { id: DEFAULT_ACCOUNT, name: 'default' },
};
const ORDER = aPauseOrder(null, 'the simulation');

export function cancel(world: World, tx: TxRow | null = null): Promise<void> {
  return command(world, 'cancel', tx);
}

export function replace(world: World, tx: TxRow | null = null): Promise<void> {
  return command(world, 'replace', tx);
}

export function speedUp(world: World): Promise<void> {
  return command(world, 'speed_up', null);
}

/** An operator stops the queue of a signer, or of the account that all requests here have, whatever is in flight, or lets it go on. */
export async function pauseSigner(world: World): Promise<void> {
  const { random, seen } = world;
  const awake = world.awake();
  if (awake.length === 0) return;
  const [node, signer] = [random.pick(awake), random.pick(world.signers)];
  const isPause = random.chance(0.5);
  const isOfAccount = random.chance(0.2);
  const scope = isOfAccount ? THE_ACCOUNT : signer;
  world.note(`${isOfAccount ? 'the account' : signer.address} is ${isPause ? 'paused' : 'resumed'} at ${node.id}`);
  if (isPause) await world.unblocked(node.get(PauseSigner).execute(scope, ORDER), node);
  else await world.unblocked(node.get(ResumeSigner).execute(scope, ORDER), node);
  if (isOfAccount) seen.note(isPause ? 'an account is stopped' : 'an account goes on');
  else seen.note(isPause ? 'a signer is paused' : 'a signer is resumed');
}

/** A client asks about a tx, or about any in any state; then at times again with the same key. At times through two nodes at once. */
async function command(world: World, kind: CommandKind, tx: TxRow | null): Promise<void> {
  const { random } = world;
  const awake = world.awake();
  const known = [...world.commands].flatMap(([key, { isLost }]) => (isLost ? [] : [key]));
  const repeated = tx === null && known.length > 0 && random.chance(0.15) ? random.pick(known) : null;
  const input = repeated === null ? newCommand(world, kind, tx ?? anyTx(world)) : world.commands.get(repeated)?.input;
  if (!input || awake.length === 0) return;
  const nodes = Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => random.pick(awake));
  world.note(`${input.kind} ${input.txId} (${input.requestId}) at ${nodes.map(({ id }) => id).join(' and ')}`);
  const asked = nodes.map((node) => submit(world, node, input));
  await world.unblocked(Promise.allSettled(asked));
  await Promise.all(asked);
}

function newCommand(world: World, kind: CommandKind, tx: TxRow | null): CommandInput | null {
  if (!tx) return null;
  const number = world.commands.size + 1;
  const requestId = `command-${number}`;
  const requestHash = aHash(0xc0_0000 + number);
  const input = { txId: tx.id, sender: ANYONE, kind, requestId, requestHash, fees: null };
  const command = { ...input, request: kind === 'replace' ? replacementOf(world, tx, number) : null };
  world.commands.set(requestId, { input: command, commandId: null });
  return command;
}

/** Mostly one that is under way. */
function anyTx({ random, snapshot }: World): TxRow | null {
  const payloads = snapshot.txs.filter((tx) => tx.kind === 'payload');
  const open = payloads.filter(({ state }) => state === 'PENDING' || state === 'ALLOCATED' || state === 'IN_MEMPOOL');
  const txs = open.length > 0 && random.chance(0.85) ? open : payloads;
  return txs.length === 0 ? null : random.pick(txs);
}

function replacementOf(world: World, tx: TxRow, number: number): CommandInput['request'] {
  const signer = world.signers.find(({ address }) => address === tx.signer);
  if (!signer) return null;
  const data = parseHex(`0x${(FIRST_REPLACEMENT + number).toString(16).padStart(8, '0')}`);
  const base = aRequest({ signer, requestId: `command-${number}`, requestHash: aHash(0xc0_0000 + number) });
  const request = { ...base, payload: { ...base.payload, value: 1n, data } };
  afflict(world, request);
  return request;
}

async function submit(world: World, node: SimNode, input: CommandInput): Promise<void> {
  try {
    const { command } = await node.get(SubmitCommand).execute(input);
    noteAnswer(world, input, command.commandId);
    world.seen.note(`command ${input.kind} ${command.status === 'QUEUED' ? 'for the owner' : 'at once'}`);
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    world.seen.note(`command ${input.kind} refused: ${error.code}`);
  }
}

/** The same key names the same command, at every node. */
function noteAnswer({ commands }: World, input: CommandInput, commandId: string): void {
  const before = commands.get(input.requestId ?? '')?.commandId ?? commandId;
  if (before !== commandId)
    throw new Violation('I3', `${input.requestId} made the commands ${before} and ${commandId}`);
  commands.set(input.requestId ?? '', { input, commandId });
}
