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
