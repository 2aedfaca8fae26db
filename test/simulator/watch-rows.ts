import type { Seen } from './seen.js';
import type { Snapshot } from './snapshot.js';

/** Notes every change that the rows show between two moments. */
export function noteChanges(seen: Seen, before: Snapshot, now: Snapshot): void {
  noteEvents(seen, before, now);
  noteSubStates(seen, before, now);
  noteSlots(seen, before, now);
  noteLeases(seen, before, now);
  noteAttempts(seen, before, now);
}

/** What was written when is in the events, also what was undone again since the last look. */
function noteEvents(seen: Seen, before: Snapshot, now: Snapshot): void {
  const known = new Set(before.events.map(({ seq }) => seq));
  for (const { seq, from, to, reason } of now.events) {
    if (known.has(seq)) continue;
    seen.note(`event ${reason}`);
    if (from !== null && from !== to) seen.note(`transition ${from} -> ${to}`);
  }
}

function noteSubStates(seen: Seen, before: Snapshot, now: Snapshot): void {
  const known = new Map(before.txs.map(({ id, sub }) => [id, sub]));
  for (const { id, sub } of now.txs) if (sub !== null && known.get(id) !== sub) seen.note(`sub-state ${sub}`);
}

function noteSlots(seen: Seen, before: Snapshot, now: Snapshot): void {
  const known = new Map(before.slots.map((slot) => [slotKey(slot), slot.status]));
  for (const slot of now.slots) {
    const old = known.get(slotKey(slot)) ?? 'none';
    if (old !== slot.status) seen.note(`slot ${old} -> ${slot.status}`);
    known.delete(slotKey(slot));
  }
  for (const old of known.values()) seen.note(`slot ${old} -> none`);
}

function slotKey({ signer, nonce }: { readonly signer: string; readonly nonce: number }): string {
  return `${signer}/${nonce}`;
}

/** How the lease of a signer came to another token: its holder was given time to release it, or it ran out. */
function noteLeases(seen: Seen, before: Snapshot, now: Snapshot): void {
  const known = new Map(before.leases.map((lease) => [lease.signer, lease]));
  for (const { signer, token, owner } of now.leases) {
    const old = known.get(signer);
    if (!old) seen.note('lease first');
    else if (old.token === token) continue;
    else if (old.owner === owner) seen.note('lease taken again by the same node');
    else seen.note(old.isReleased ? 'lease taken after its release' : 'lease taken over');
  }
}

function noteAttempts(seen: Seen, before: Snapshot, now: Snapshot): void {
  const known = new Map(before.attempts.map(({ hash, status }) => [hash, status]));
  for (const { hash, kind, status } of now.attempts) {
    if (!known.has(hash)) seen.note(`attempt ${kind}`);
    if (known.get(hash) !== status) seen.note(`attempt status ${status}`);
  }
}
