import { readSnapshot } from './snapshot.js';
import type { World } from './world.js';

/** Finds out what was there before a loss and is not there after it, so that nobody is blamed for what nobody can know. */
export async function takeStock(world: World, loss: () => Promise<void>): Promise<void> {
  const { chain, database, seen } = world;
  const before = await readSnapshot(database.own);
  await loss();
  const now = await readSnapshot(database.own);
  const [ids, payloads] = [new Set(now.txs.map(({ id }) => id)), new Set(now.txs.map(({ data }) => data))];
  const [hashes, commands] = [new Set(now.attempts.map(({ hash }) => hash)), new Set(now.commands.map(({ id }) => id))];
  for (const { data } of before.txs) if (!payloads.has(data)) chain.lostPayloads.add(data);
  for (const { hash, kind } of before.attempts) {
    if (hashes.has(hash)) continue;
    chain.lostBytes.add(hash);
    seen.note(`lost commit of a ${kind}`);
  }
  chain.forgetLost();
  // A client that sends a lost request again asks for it twice.
  for (const [request, id] of world.accepted) if (!ids.has(id)) world.lose(request);
  for (const request of [...world.unanswered]) if (chain.lostPayloads.has(payloadOf(request))) world.lose(request);
  for (const [key, command] of world.commands)
    if (command.commandId === null || !commands.has(command.commandId))
      world.commands.set(key, { ...command, isLost: true });
  for (const { reason } of before.events.slice(now.events.length)) seen.note(`lost event ${reason}`);
  world.snapshot = now;
  const lost = before.events.length - now.events.length;
  world.note(`the database loses ${lost} events and ${before.attempts.length - now.attempts.length} attempts`);
}

/** The calldata of a request has its number. */
export function payloadOf(request: string): string {
  return `0x${Number(request.split('-')[1]).toString(16).padStart(8, '0')}`;
}
