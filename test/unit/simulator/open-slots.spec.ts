import { describe, expect, it } from '@jest/globals';
import { OpenSlots } from '../../simulator/open-slots.js';
import type { SlotRow } from '../../simulator/snapshot.js';

const BLOCKS = 40;

function held(nonce: number, tx: string | null = null): SlotRow {
  return { signer: '0xa', nonce, status: 'HELD', tx, hash: null, token: 1 };
}

describe('slots that are held for no payload', () => {
  it('are named when one of them stays open', () => {
    const open = new OpenSlots();
    for (let block = 0; block < BLOCKS; block += 1) open.saw({ slots: [held(7), held(block + 8)], txs: [] });
    expect(open.stuck()).toBe('slot 7 of 0xa');
  });

  it('are no fault when there is always another one', () => {
    const open = new OpenSlots();
    for (let block = 0; block < BLOCKS; block += 1) open.saw({ slots: [held(block), held(block + 1)], txs: [] });
    expect(open.any).toBe(true);
    expect(open.stuck()).toBeNull();
    expect(open.isOnItsWay(held(BLOCKS))).toBe(true);
    expect(open.isOnItsWay(held(0))).toBe(false);
  });

  it('count from the block at which they were opened last', () => {
    const open = new OpenSlots();
    for (let block = 0; block < BLOCKS; block += 1) open.saw({ slots: block % 10 === 0 ? [] : [held(7)], txs: [] });
    expect(open.stuck()).toBeNull();
  });
});
