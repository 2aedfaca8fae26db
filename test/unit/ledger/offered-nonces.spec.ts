import { beforeEach, expect, it } from '@jest/globals';
import { OfferedNonces } from '../../../src/modules/ledger/domain/offered-nonces.js';

let offered: OfferedNonces;

beforeEach(() => {
  offered = new OfferedNonces();
  offered.sent(9n);
});

it('what was sent before the block before was recorded, and is not mined, was left', () => {
  offered.leftBy(1, 4n);
  expect(offered.leftBy(2, 6n)).toBe(3);
});

it('what was sent after the block before was recorded may have come too late', () => {
  offered.leftBy(1, 4n);
  offered.sent(20n);
  expect([offered.leftBy(2, 9n), offered.leftBy(3, 12n)]).toEqual([0, 8]);
});

it('of the first block nobody knows what came in time', () => {
  expect(offered.leftBy(1, 0n)).toBe(0);
});

it('a block that is recorded in parts, and one that is recorded late, is compared with the same as the last', () => {
  offered.leftBy(1, 0n);
  offered.sent(20n);
  expect([offered.leftBy(2, 3n), offered.leftBy(2, 5n), offered.leftBy(1, 9n)]).toEqual([6, 4, 0]);
  expect(offered.leftBy(3, 15n)).toBe(5);
});

it('what is sent again lowers nothing', () => {
  offered.sent(5n);
  offered.leftBy(1, 4n);
  expect(offered.leftBy(2, 5n)).toBe(4);
});
