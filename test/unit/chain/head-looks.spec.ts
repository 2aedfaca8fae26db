import { beforeEach, expect, it } from '@jest/globals';
import { HeadLooks } from '../../../src/modules/chain/domain/head-looks.js';

let looks: HeadLooks;

beforeEach(() => {
  looks = new HeadLooks();
  looks.add(10, 1_000);
  looks.add(10, 1_250);
});

it('a block was not there at the last look that showed only lower ones', () => {
  looks.add(12, 1_500);
  expect([looks.lastWithout(11), looks.lastWithout(12), looks.lastWithout(13)]).toEqual([1_250, 1_250, 1_500]);
});

it('nobody knows it of blocks that were there at the first look', () => {
  expect(looks.lastWithout(10)).toBeNull();
});

it('an endpoint that lags, or a reorg, tells nothing new: the block may be there', () => {
  looks.add(12, 1_500);
  looks.add(9, 2_000);
  expect([looks.lastWithout(10), looks.lastWithout(12), looks.lastWithout(13)]).toEqual([null, 1_250, 1_500]);
});

it('a head that is far below begins anew: the chain was reset, or never had the other one', () => {
  looks.add(1_000, 1_500);
  looks.add(11, 2_000);
  expect([looks.lastWithout(11), looks.lastWithout(12)]).toEqual([null, 2_000]);
});

it('keeps the newest 64 heights', () => {
  for (let head = 11; head <= 80; head += 1) looks.add(head, head * 1_000);
  expect([looks.lastWithout(17), looks.lastWithout(18)]).toEqual([null, 17_000]);
});
