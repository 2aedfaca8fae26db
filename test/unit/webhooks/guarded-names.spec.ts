import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { guardedLookup } from '../../../src/modules/webhooks/infrastructure/guard/guarded-connector.js';
import type { NameResolver } from '../../../src/modules/webhooks/infrastructure/guard/name-resolver.js';
import { TargetGuard } from '../../../src/modules/webhooks/infrastructure/guard/target-guard.js';
import type { GuardedSender } from '../../../src/modules/webhooks/infrastructure/guarded-sender.js';
import { gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { FakeResolver, guardedSender, Receiver, shipment, webhooksConfig } from './sender-lab.js';

let receiver: Receiver;
let sender: GuardedSender;

beforeEach(async () => {
  receiver = await new Receiver().start();
  receiver.answer = (response) => response.writeHead(200, { connection: 'close' }).end();
});

afterEach(async () => {
  await sender.onApplicationShutdown();
  await receiver.stop();
});

/** With the receiver's address as the only one that counts as public. */
function sends(resolver: NameResolver, timeoutMs = 10_000): void {
  sender = guardedSender({ allow: ['127.0.0.1'], resolver, timeoutMs });
}

const send = (name: string) => sender.send(shipment(receiver.url(name)));

describe('a post to a name', () => {
  it('goes to the address that was checked, after one lookup', async () => {
    const resolver = new FakeResolver(['127.0.0.1'], ['10.0.0.1']);
    sends(resolver);
    expect(await send('hooks.example')).toMatchObject({ status: 200 });
    expect(resolver.asked).toEqual(['hooks.example']);
    expect(receiver.received[0]?.request.headers.host).toBe(`hooks.example:${receiver.port}`);
  });

  it('that means another address a moment later is checked again for the next connection', async () => {
    sends(new FakeResolver(['127.0.0.1'], ['10.0.0.1']));
    expect(await send('hooks.example')).toMatchObject({ status: 200 });
    expect(await send('hooks.example')).toMatchObject({
      status: null,
      error: 'address_refused: 10.0.0.1 is a private address',
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('goes to none but the allowed of several addresses', async () => {
    const guard = new TargetGuard(webhooksConfig({ allow: ['127.0.0.1'] }));
    const resolver = new FakeResolver(['::1', '10.0.0.1', '127.0.0.1', '8.8.8.8']);
    const lookup = promisify(guardedLookup(guard, resolver, 'https:'));
    expect(await lookup('hooks.example', { all: true })).toEqual([
      { address: '127.0.0.1', family: 4 },
      { address: '8.8.8.8', family: 4 },
    ]);
    sends(resolver);
    expect(await send('hooks.example')).toMatchObject({ status: 200 });
  });

  it('that was given up during the lookup is not sent any more', async () => {
    const found = gate();
    const slow = new FakeResolver(['127.0.0.1']);
    sends({ addressesOf: (name) => found.opened.then(() => slow.addressesOf(name)) }, 200);
    expect(await send('slow.example')).toMatchObject({ error: 'timeout: no complete answer within 0.2 s' });
    found.open();
    // Later posts have connections of the same time, or later.
    for (let n = 0; n < 3; n += 1) expect(await send('slow.example')).toMatchObject({ status: 200 });
    await until('the connection of the first is made', () => Promise.resolve(receiver.sockets.length === 4));
    expect(receiver.received).toHaveLength(3);
  });

  it('goes over plain http to allowed addresses only', async () => {
    sends(new FakeResolver(['8.8.8.8']));
    expect(await send('hooks.example')).toMatchObject({
      status: null,
      error: 'address_refused: 8.8.8.8 is not in webhooks.allow, so it needs https',
    });
  });
});
