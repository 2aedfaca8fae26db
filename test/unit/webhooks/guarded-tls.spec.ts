import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/modules/webhooks/domain/webhook-sender.js';
import { until } from '../../support/until.js';
import { authority, type Certificate, certificateOf } from './certificates.js';
import { FakeResolver, guardedSender, Receiver, shipment } from './sender-lab.js';

const NAME = 'hooks.example';
const RUN_TYPESCRIPT = path.join(process.cwd(), 'test/support/run-typescript.mjs');
const SCRIPT = path.join(import.meta.dirname, 'send-from-process.ts');

const receivers: Receiver[] = [];

async function receiver(certificate?: Certificate): Promise<Receiver> {
  const started = await new Receiver(certificate).start();
  receivers.push(started);
  return started;
}

afterEach(async () => {
  await Promise.all(receivers.splice(0).map((started) => started.stop()));
});

/** From a process that trusts this authority. */
async function sendTrusting(ca: Certificate, urls: readonly string[]): Promise<Answer[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'lockstep-ca-'));
  const file = path.join(folder, 'ca.pem');
  await writeFile(file, ca.cert);
  const args = ['--import', RUN_TYPESCRIPT, SCRIPT, ...urls];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: { ...process.env, NODE_OPTIONS: '', NODE_EXTRA_CA_CERTS: file },
    });
    return JSON.parse(stdout) as Answer[];
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('a receiver with TLS', () => {
  it('that signed its certificate itself gets nothing', async () => {
    const { port, received } = await receiver(await certificateOf(NAME));
    const sender = guardedSender({ allow: ['127.0.0.1'], resolver: new FakeResolver(['127.0.0.1']) });
    const answer = await sender.send(shipment(`https://${NAME}:${port}/`));
    expect(answer).toMatchObject({ status: null, error: expect.stringMatching(/^tls: .*self-signed certificate$/) });
    expect(received).toEqual([]);
    await sender.onApplicationShutdown();
  });

  it('that does not speak TLS gets nothing', async () => {
    const { port, received } = await receiver();
    const sender = guardedSender({ allow: ['127.0.0.1'] });
    const answer = await sender.send(shipment(`https://127.0.0.1:${port}/`));
    expect(answer).toMatchObject({ status: null, error: 'tls: wrong version number' });
    expect(received).toEqual([]);
    await sender.onApplicationShutdown();
  });

  it('that takes the connection and never finishes its handshake costs the time-out, and its connection', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const sender = guardedSender({ allow: ['127.0.0.1'], timeoutMs: 300 });
    const answer = await sender.send(shipment(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/`));
    expect(answer).toMatchObject({ status: null, error: 'timeout: no complete answer within 0.3 s' });
    expect(answer.durationMs).toBeLessThan(3_000);
    sockets.forEach((socket) => socket.resume());
    await until('the connection is closed', () => Promise.resolve(sockets[0]?.destroyed === true));
    await sender.onApplicationShutdown();
    silent.close();
  });

  it('is known by the name of the URL, not by its address, and its certificate must hold today', async () => {
    const ca = await authority();
    const yesterday = new Date(Date.now() - 86_400_000);
    const [valid, other, expired] = await Promise.all([
      receiver(await certificateOf(NAME, ca)),
      receiver(await certificateOf('other.example', ca)),
      receiver(await certificateOf(NAME, ca, yesterday)),
    ]);
    const urls = [valid, other, expired].map(({ port }) => `https://${NAME}:${port}/`);
    const answers = await sendTrusting(ca, [...urls, `https://127.0.0.1:${valid.port}/`]);
    expect(answers.map(({ status, error }) => [status, error])).toEqual([
      [200, null],
      [null, expect.stringMatching(/^tls: Hostname\/IP does not match certificate's altnames: Host: hooks.example/)],
      [null, 'tls: certificate has expired'],
      [null, expect.stringMatching(/^tls: Hostname\/IP does not match certificate's altnames: IP: 127.0.0.1/)],
    ]);
    expect([valid, other, expired].map(({ received }) => received.length)).toEqual([1, 0, 0]);
  });
});
