import { beforeEach, expect, it } from '@jest/globals';
import { OfferedNonces } from '../../../src/modules/ledger/domain/offered-nonces.js';

let offered: OfferedNonces;

beforeEach(() => {
  offered = new OfferedNonces();
  offered.sent(9n, 1_000);
});

it('what was sent before the last look that did not show the block, and is not mined, was left', () => {
  expect(offered.leftBy(1, 6n, 1_000)).toBe(3);
});

it('what was sent after that look may have come too late for this block, and not for a later one', () => {
  offered.sent(20n, 1_001);
  expect([offered.leftBy(1, 9n, 1_000), offered.leftBy(2, 12n, 2_000)]).toEqual([0, 8]);
});

it('sends of one moment are one, and each counts', () => {
  for (const nonce of [10n, 11n, 12n]) offered.sent(nonce, 1_001);
  expect(offered.leftBy(1, 9n, 1_001)).toBe(3);
});

it('where nobody knows when the block was not there yet, it left nothing', () => {
  expect(offered.leftBy(1, 0n, null)).toBe(0);
  expect(offered.leftBy(2, 4n, 1_000)).toBe(5);
});

it('a block that is recorded in parts, and one that is recorded late, is compared with the same as the last', () => {
  offered.sent(20n, 2_000);
  expect([offered.leftBy(2, 3n, 1_000), offered.leftBy(2, 5n, 2_000), offered.leftBy(1, 8n, 500)]).toEqual([6, 4, 1]);
  expect(offered.leftBy(3, 15n, 2_000)).toBe(5);
});

it('what is sent again changes nothing', () => {
  offered.sent(5n, 3_000);
  offered.sent(9n, 3_000);
  expect(offered.leftBy(1, 5n, 1_000)).toBe(4);
});
