import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { NameResolver } from '../../../src/modules/webhooks/infrastructure/guard/name-resolver.js';
import type { GuardedSender } from '../../../src/modules/webhooks/infrastructure/guarded-sender.js';
import { gate } from '../../support/gate.js';
import { FakeResolver, guardedSender, Receiver, shipment } from './sender-lab.js';

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
    const other = await new Receiver().start('::1', receiver.port);
    sends(new FakeResolver(['::1', '10.0.0.1', '127.0.0.1']));
    expect(await send('hooks.example')).toMatchObject({ status: 200 });
    expect([receiver.received.length, other.sockets.length]).toEqual([1, 0]);
    await other.stop();
  });

  it('that was given up during the lookup is not sent any more', async () => {
    const found = gate();
    const slow = new FakeResolver(['127.0.0.1']);
    sends({ addressesOf: (name) => found.opened.then(() => slow.addressesOf(name)) }, 200);
    expect(await send('slow.example')).toMatchObject({ error: 'timeout: no complete answer within 0.2 s' });
    found.open();
    // A post of the same time, to see the connection made.
    expect(await send('slow.example')).toMatchObject({ status: 200 });
    expect(receiver.received).toHaveLength(1);
  });
});
