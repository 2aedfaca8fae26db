import { expect, it } from '@jest/globals';
import { RouteTable } from '../../../src/platform/http/route-table.js';

it.each([
  ['/tx/batch', ['POST']],
  ['/tx/7?x=1', ['GET', 'HEAD']],
  ['/tx', []],
  ['/tx/7/', []],
  ['//tx/7', []],
])('the methods of %s are %j', (url, methods) => {
  const table = new RouteTable();
  table.add(['GET', 'HEAD'], '/tx/:txId');
  table.add('POST', '/tx/batch');
  expect(table.methodsOf(url)).toEqual(methods);
});

it('the path of a route with fewer parameters is that of another route, and no other path is', () => {
  const table = new RouteTable();
  for (const url of ['/tx', '/tx/batch', '/tx/:txId', '/tx/:txId/cancel', '/keys/:id', '/a/:b/c', '/a/:b/:c'])
    table.add('GET', url);
  expect(table.isOfOther('/tx/:txId', '/tx/batch?limit=1')).toBe(true);
  expect(table.isOfOther('/tx/:txId', '/tx/019')).toBe(false);
  expect(table.isOfOther('/tx/:txId/cancel', '/tx/batch/cancel')).toBe(false);
  expect(table.isOfOther('/keys/:id', '/keys/batch')).toBe(false);
  expect(table.isOfOther('/a/:b/:c', '/a/1/c')).toBe(true);
  expect(table.isOfOther('/a/:b/:c', '/a/1/d')).toBe(false);
});
