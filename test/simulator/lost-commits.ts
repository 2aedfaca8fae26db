import type { Hash } from '../../src/kernel/hex.js';
import { readSnapshot } from './snapshot.js';
import type { World } from './world.js';

/** What a database says of an attempt that no node took. */
const UNTAKEN = new Set(['REJECTED', 'UNSENT']);

/** Finds out what was there before a loss and is not there after it, so that nobody is blamed for what nobody can know. */
export async function takeStock(world: World, loss: () => Promise<void>): Promise<void> {
  const { chain, database, seen } = world;
  const before = await readSnapshot(database.own);
  await loss();
  const now = await readSnapshot(database.own);
  const [ids, payloads] = [new Set(now.txs.map(({ id }) => id)), new Set(now.txs.map(({ data }) => data))];
  const commands = new Set(now.commands.map(({ id }) => id));
  const known = new Map(now.attempts.map(({ hash, status }) => [hash, status]));
  const shown = new Set<string>([...chain.pooled(), ...chain.minedTxs()].map(({ hash }) => hash));
  for (const { data, kind } of before.txs) if (kind !== 'hold' && !payloads.has(data)) chain.lostPayloads.add(data);
  for (const { hash, kind, status } of before.attempts) {
    if (!known.has(hash)) {
      chain.lostBytes.add(hash);
      world.sent.wasCommitted(hash as Hash);
      seen.note(`lost commit of a ${kind}`);
    } else if (known.get(hash) !== status && UNTAKEN.has(known.get(hash) ?? '') && !shown.has(hash))
      world.sent.forgotten(hash as Hash);
  }
  chain.forgetLost(new Set(world.network.endpoints.flatMap(({ pool }) => pool.all().map(({ hash }) => hash))));
  // A client that sends a lost request again asks for it twice.
  for (const [request, id] of world.accepted) if (!ids.has(id)) world.lose(request);
  for (const request of [...world.unanswered]) if (chain.lostPayloads.has(payloadOf(request))) world.lose(request);
  for (const [key, command] of world.commands)
    if (command.commandId === null || !commands.has(command.commandId))
      world.commands.set(key, { ...command, isLost: true });
  for (const { reason } of before.events.slice(now.events.length)) seen.note(`lost event ${reason}`);
  world.outside?.forget(before, now);
  world.snapshot = now;
  const lost = before.events.length - now.events.length;
  world.note(`the database loses ${lost} events and ${before.attempts.length - now.attempts.length} attempts`);
}

/** The calldata of a request has its number. */
export function payloadOf(request: string): string {
  return `0x${Number(request.split('-')[1]).toString(16).padStart(8, '0')}`;
}
