import { expect, it } from '@jest/globals';
import { NodeConfig } from '../../../src/config/index.js';
import { DeleteOld } from '../../../src/modules/retention/application/delete-old.js';
import { RetentionHousekeeping } from '../../../src/modules/retention/infrastructure/retention-housekeeping.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

it('RetentionHousekeeping runs one deletion at a time, which learns that the process ends, and is waited for', async () => {
  const begun: (() => boolean)[] = [];
  let end: () => void = () => undefined;
  const deleteOld = fakeOf(DeleteOld, {
    execute: (isStopped) => (begun.push(isStopped), new Promise<void>((resolve) => (end = resolve))),
  });
  const housekeeping = new RetentionHousekeeping(deleteOld, new NodeConfig(), new RecordingLog());
  const run = housekeeping.run();
  await housekeeping.run();
  expect(begun.map((isStopped) => isStopped())).toEqual([false]);
  let isDown = false;
  const down = housekeeping.onModuleDestroy().then(() => (isDown = true));
  expect([begun[0]?.(), isDown]).toEqual([true, false]);
  end();
  await Promise.all([run, down]);
  await housekeeping.run();
  expect(begun).toHaveLength(1);
});
