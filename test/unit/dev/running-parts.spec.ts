import { expect, it } from '@jest/globals';
import { silent } from '../../../src/dev/log.js';
import { RunningParts } from '../../../src/dev/running-parts.js';

it('stops parts in the opposite order, and the rest when one of them fails', async () => {
  const stopped: string[] = [];
  const parts = new RunningParts();
  parts.add('database', () => Promise.resolve(stopped.push('database')));
  parts.add('chain', () => Promise.reject(new Error('stuck')));
  parts.add('service', () => Promise.resolve(stopped.push('service')));
  await parts.stopAll(silent);
  expect(stopped).toEqual(['service', 'database']);
});
