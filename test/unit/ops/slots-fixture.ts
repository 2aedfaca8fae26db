import type { SlotQueries, SlotView } from '../../../src/modules/ops/application/slot-queries.js';

/** What the database has of a signer, as far as a test says so. */
export function someSlots(overrides: Partial<SlotQueries> = {}): SlotQueries {
  return {
    cursor: async () => ({ next: 9n, lowest: 7n }),
    list: async () => ({ items: [aSlot()], nextBelow: null }),
    find: async () => null,
    attempts: async () => [],
    ...overrides,
  };
}

export function aSlot(overrides: Partial<SlotView> = {}): SlotView {
  const since = new Date('2026-11-21T08:00:00Z');
  const nobody = { txId: null, state: null, txHash: null, onChain: null };
  return { nonce: 7n, status: 'HELD', use: 'payload', since, ...nobody, ...overrides };
}
