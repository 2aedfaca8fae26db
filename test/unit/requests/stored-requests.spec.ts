import { expect, it } from '@jest/globals';
import { type RequestKey, TxIntake } from '../../../src/modules/ledger/index.js';
import { StoredRequests } from '../../../src/modules/requests/application/stored-requests.js';
import { aRequest } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const asked: string[][] = [];
let answerNow: () => void = () => undefined;
const stored = new StoredRequests(
  fakeOf(TxIntake, {
    areStored: async (keys: readonly RequestKey[]) => {
      const ids = keys.map(({ requestId }) => requestId);
      asked.push(ids);
      if (ids.includes('slow')) await new Promise<void>((resolve) => (answerNow = resolve));
      return ids.map((id) => id.startsWith('stored'));
    },
  }),
);
const lookUp = (requestId: string) => stored.lookUp(aRequest({ requestId }));
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

it('asks nothing until somebody wants to know, and then once for each request', async () => {
  const isRepeated = lookUp('stored-1');
  await turn();
  expect(asked).toEqual([]);
  expect([await isRepeated(), await isRepeated()]).toEqual([true, true]);
  expect(asked.splice(0)).toEqual([['stored-1']]);
});

it('asks in one statement for all that come in one go, each with its answer', async () => {
  expect(await Promise.all(['new', 'stored-1', 'new-2'].map((id) => lookUp(id)()))).toEqual([false, true, false]);
  expect(asked.splice(0)).toEqual([['new', 'stored-1', 'new-2']]);
});

it('asks in one statement for all that come while another one runs: a flood of refusals makes few', async () => {
  const slow = lookUp('slow')();
  await turn();
  const later: Promise<boolean>[] = [];
  for (const id of ['stored-1', 'new', 'stored-2']) {
    later.push(lookUp(id)());
    await turn();
  }
  answerNow();
  expect([await slow, ...(await Promise.all(later))]).toEqual([false, true, false, true]);
  expect(asked.splice(0)).toEqual([['slow'], ['stored-1', 'new', 'stored-2']]);
});
