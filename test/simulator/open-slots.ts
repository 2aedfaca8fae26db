import type { SlotRow, Snapshot } from './snapshot.js';

/** Blocks within which a nonce gap is filled, the fill is mined, and its block is final by the rule of its chain. */
const LONG = 15;
const FINAL = new Set(['CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED']);

/**
 * Slots that are held for no payload, and for how many blocks in a row. Payloads that are refused for ever for what may pass take a slot
 * at every try and give it back, so at any moment some slot may be open; what must not be is one that stays so.
 */
export class OpenSlots {
  private blocks = new Map<string, number>();

  /** After each block. */
  saw({ slots, txs }: Pick<Snapshot, 'slots' | 'txs'>): void {
    const live = new Set(txs.flatMap(({ id, kind, state }) => (kind === 'fill' || FINAL.has(state) ? [] : [id])));
    const open = slots.filter(({ status, tx }) => status === 'HELD' && !live.has(tx ?? ''));
    this.blocks = new Map(open.map((slot) => [keyOf(slot), (this.blocks.get(keyOf(slot)) ?? 0) + 1]));
  }

  get any(): boolean {
    return this.blocks.size > 0;
  }

  /** Whether it is open, and not for long yet. */
  isOnItsWay(slot: SlotRow): boolean {
    return (this.blocks.get(keyOf(slot)) ?? Infinity) < LONG;
  }

  /** One that is open for long; null: none is. */
  stuck(): string | null {
    return [...this.blocks].find(([, blocks]) => blocks >= LONG)?.[0] ?? null;
  }
}

function keyOf({ signer, nonce }: SlotRow): string {
  return `slot ${nonce} of ${signer}`;
}
