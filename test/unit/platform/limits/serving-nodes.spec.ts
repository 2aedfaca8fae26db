import { expect, it } from '@jest/globals';
import { ServingNodes } from '../../../../src/platform/limits/serving-nodes.js';

it('a node that comes counts at once, and one that goes when it was missed twice', () => {
  const nodes = new ServingNodes();
  expect(nodes.shareOf(60)).toBe(60);
  nodes.seen(3);
  expect(nodes.shareOf(60)).toBe(20);
  nodes.seen(2);
  expect(nodes.shareOf(60)).toBe(20);
  nodes.seen(3);
  nodes.seen(2);
  nodes.seen(2);
  expect(nodes.shareOf(60)).toBe(30);
});

it('a share is one at least, and none when there is no limit', () => {
  const nodes = new ServingNodes();
  nodes.seen(10);
  expect(nodes.shareOf(3)).toBe(1);
  expect(nodes.rateOf(1)).toEqual({ perSecond: 0.1, most: 1 });
  expect(nodes.rateOf(100)).toEqual({ perSecond: 10, most: 50 });
  expect(nodes.shareOf(Infinity)).toBe(Infinity);
  nodes.seen(0);
  nodes.seen(0);
  expect(nodes.shareOf(3)).toBe(3);
});
