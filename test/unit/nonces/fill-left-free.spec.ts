import { beforeEach, expect, it } from '@jest/globals';
import { Conflict } from '../../../src/kernel/errors.js';
import { sameSigner, type SignerId } from '../../../src/kernel/signer-id.js';
import { HoldBehind } from '../../../src/modules/lost-commits/index.js';
import { FillLeftFree } from '../../../src/modules/nonces/application/fill-left-free.js';
import { SyncSigner } from '../../../src/modules/nonces/application/sync-signer.js';
import { NotLeader } from '../../../src/modules/signers/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [ONE, OTHER] = [aSigner(1), aSigner(2)];

let lower: SignerId[];
let calls: unknown[][];
/** Of ONE. */
let failure: Error | null;
let clock: FakeClock;
let log: RecordingLog;
let custody: KeysOf;
let fill: FillLeftFree;

beforeEach(() => {
  [lower, calls, failure, clock, log] = [[ONE, OTHER], [], null, new FakeClock(), new RecordingLog()];
  custody = new KeysOf([]);
  fill = new FillLeftFree(
    fakeOf(HoldBehind, { lower: () => lower }),
    fakeOf(SyncSigner, {
      execute: async (...args) => {
        calls.push(args);
        if (failure && sameSigner(args[0], ONE)) throw failure;
        return {} as never;
      },
    }),
    custody,
    clock,
    log,
  );
});

it('fills 64 nonces of each signer that is held for a lower one', async () => {
  await fill.execute(DEV_CHAIN);
  expect(calls).toEqual([
    [ONE, 64],
    [OTHER, 64],
  ]);
});

it('fills nothing of a signer whose key outside senders have', async () => {
  custody.external = [ONE];
  await fill.execute(DEV_CHAIN);
  expect(calls).toEqual([[OTHER, 64]]);
});

it('tries again after growing pauses, whatever came of it, and begins anew when all is well for a while', async () => {
  const tries: number[] = [];
  for (let second = 0; second <= 40; second += 1) {
    await fill.execute(DEV_CHAIN);
    if (calls.length > 0) tries.push(second);
    calls.length = 0;
    clock.advance(1_000);
  }
  expect(tries).toEqual([0, 5, 15, 35]);
  lower = [];
  clock.advance(1_200_000);
  await fill.execute(DEV_CHAIN);
  lower = [ONE];
  await fill.execute(DEV_CHAIN);
  clock.advance(5_000);
  await fill.execute(DEV_CHAIN);
  expect(calls).toHaveLength(2);
});

it('goes on with others after one that cannot be filled, and says so', async () => {
  failure = new Conflict('chain_behind_books', 'the chain lost blocks', 'look');
  await fill.execute(DEV_CHAIN);
  expect([calls.length, log.lines.map(({ event }) => event)]).toEqual([2, ['nonces of a held signer are not filled']]);
});

it('leaves a signer to its owner, without a word', async () => {
  failure = new NotLeader(ONE, { nodeId: 'owner', advertisedUrl: null, expiresInMs: 1 });
  await fill.execute(DEV_CHAIN);
  expect([calls.length, log.lines]).toEqual([2, []]);
});
