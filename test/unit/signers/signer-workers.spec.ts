import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { WorkerConfig } from '../../../src/config/index.js';
import { SignerWorkers } from '../../../src/modules/signers/application/signer-workers.js';
import { signerKey } from '../../../src/kernel/signer-id.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { type Gate, gate } from '../../support/gate.js';
import { KeysOf } from '../../support/fakes/fake-node.js';

const OTHER_CHAIN = DEV_CHAIN + 1;

const worker = Object.assign(new WorkerConfig(), { concurrency: 1 });
let workers: SignerWorkers;
let held: Gate;

beforeEach(() => {
  // One for each chain, so that all keys of a chain share it.
  workers = new SignerWorkers(worker, new KeysOf([]));
  held = gate();
});

describe('the workers of signers', () => {
  it('are the same for a chain whoever asks: one signer never has two tasks at once', async () => {
    const order: string[] = [];
    const task = (name: string) => async () => void order.push(name);
    const first = workers.forChain(DEV_CHAIN).run('signer', () => held.opened.then(task('first')));
    const second = workers.forChain(DEV_CHAIN).run('signer', task('second'));
    held.open();
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
  });

  it('of one chain do not wait for those of another, which may hang', async () => {
    const done: string[] = [];
    const hanging = workers.forChain(DEV_CHAIN).run('signer', () => held.opened);
    const other = workers.forChain(OTHER_CHAIN).run('signer', async () => void done.push('other'));
    await nextTurn();
    expect(done).toEqual(['other']);
    held.open();
    await Promise.all([hanging, other]);
  });

  it('of a remote custody, which may hang, are its own: no signer of another custody waits for them', async () => {
    const [slow, other, local] = [aSigner(1), aSigner(2), aSigner(3)];
    const custody = Object.assign(new KeysOf([]), {
      signers: () =>
        [slow, other, local].map((signer, n) => ({
          signer,
          reference: { type: 'toy' },
          ...(n < 2 && { remote: `toy ${n}` }),
        })),
    });
    const { concurrency } = worker;
    workers = new SignerWorkers(worker, custody);
    const ofChain = workers.forChain(DEV_CHAIN);
    const done: string[] = [];
    const hanging = ofChain.run(signerKey(slow), () => held.opened);
    const others = [other, local].map((signer) =>
      ofChain.run(signerKey(signer), async () => void done.push(signerKey(signer))),
    );
    await Promise.all(others);
    expect([concurrency, done]).toEqual([1, [other, local].map(signerKey)]);
    held.open();
    await hanging;
    await workers.idle();
  });

  it('are as many for each chain as the config says', () => {
    const many = new SignerWorkers(Object.assign(new WorkerConfig(), { concurrency: 7 }), new KeysOf([])).forChain(
      DEV_CHAIN,
    );
    const used = new Set(Array.from({ length: 1_000 }, (_, n) => many.workerOf(`signer-${n}`)));
    expect([...used].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it.each([DEV_CHAIN, OTHER_CHAIN])('are idle when those of every chain are: %d is the last', async (last) => {
    for (const chainId of [DEV_CHAIN, OTHER_CHAIN]) workers.forChain(chainId);
    const order: string[] = [];
    const working = workers.forChain(last).run('signer', () => held.opened.then(() => void order.push('last task')));
    const waiting = workers.idle().then(() => void order.push('idle'));
    await nextTurn();
    held.open();
    await Promise.all([working, waiting]);
    expect(order).toEqual(['last task', 'idle']);
  });
});
