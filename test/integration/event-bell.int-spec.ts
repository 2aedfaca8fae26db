import { afterEach, expect, it } from '@jest/globals';
import { DatabaseConfig } from '../../src/config/index.js';
import { PgEventBell } from '../../src/modules/events/infrastructure/pg-event-bell.js';
import { PgEventLog } from '../../src/modules/events/infrastructure/pg-event-log.js';
import { aSigner } from '../support/builders.js';
import { storedRows } from '../support/stored-rows.js';
import { until } from '../support/until.js';
import { readableLog } from '../unit/platform/log-lines.js';

const stored = await storedRows();
const { database } = stored.node;
const bells: PgEventBell[] = [];

function aBell(): PgEventBell {
  const bell = new PgEventBell(
    database,
    Object.assign(new DatabaseConfig(), { url: stored.lab.url }),
    readableLog().log,
  );
  bells.push(bell);
  return bell;
}

afterEach(async () => {
  for (const bell of bells.splice(0)) await bell.onModuleDestroy();
});

it('a commit with events is heard by readers on all nodes, also of the same one; one that is rolled back is not', async () => {
  const [here, there] = [aBell(), aBell()];
  await here.onApplicationBootstrap();
  await there.onApplicationBootstrap();
  const heard = { here: 0, there: 0 };
  here.listen(() => (heard.here += 1));
  const stop = there.listen(() => (heard.there += 1));
  const write = (fails: boolean) =>
    database.transaction(async (tx) => {
      const author = { nodeId: 'first', tokenFor: () => null };
      await new PgEventLog(here).appendOfSigners(tx, author, [{ signer: aSigner(), reason: 'paused', detail: {} }]);
      if (fails) throw new Error('rolled back');
    });
  await expect(write(true)).rejects.toThrow('rolled back');
  await write(false);
  await until('both have heard it', async () => heard.here > 0 && heard.there > 0, 10_000);
  expect(heard).toEqual({ here: 1, there: 1 });
  stop();
  await write(false);
  await until('it is heard again', async () => heard.here > 1, 10_000);
  expect(heard.there).toBe(1);
});

it('many commits in a short time are one ring', async () => {
  const bell = aBell();
  await bell.onApplicationBootstrap();
  let heard = 0;
  bell.listen(() => (heard += 1));
  for (let n = 0; n < 100; n += 1) bell.ring();
  await until('it is heard', async () => heard > 0, 10_000);
  expect(heard).toBe(1);
});
