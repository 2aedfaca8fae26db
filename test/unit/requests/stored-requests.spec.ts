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

it('asks again for what was not stored yet: the first of two equal requests may be, meanwhile', async () => {
  const isRepeated = lookUp('new');
  expect([await isRepeated(), await isRepeated()]).toEqual([false, false]);
  expect(asked.splice(0)).toEqual([['new'], ['new']]);
});

it('asks for a thousand at most in one statement', async () => {
  const ids = Array.from({ length: 2_001 }, (_, n) => (n % 2 === 0 ? `stored-${n}` : `new-${n}`));
  const answers = await Promise.all(ids.map((id) => lookUp(id)()));
  expect(answers).toEqual(ids.map((_, n) => n % 2 === 0));
  expect(asked.splice(0).map((some) => some.length)).toEqual([1_000, 1_000, 1]);
});
