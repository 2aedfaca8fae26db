import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ServerConfig, TlsConfig } from '../../../src/config/index.js';
import { freePort } from '../../../src/dev/free-port.js';
import { followCertificate, readCertificate } from '../../../src/platform/http/certificate.js';
import { WaitingRoom } from '../../../src/platform/http/waiting-room.js';
import { until } from '../../support/until.js';
import { type Certificate, certificateOf } from '../webhooks/certificates.js';
import { startHttpApp } from './http-app.js';
import { readableLog } from './log-lines.js';

const folder = mkdtempSync(join(tmpdir(), 'lockstep-tls-'));
const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
const tls = Object.assign(new TlsConfig(), files);
let [first, second]: Certificate[] = [];

function write(certificate: Partial<Certificate> | undefined): void {
  if (certificate?.cert !== undefined) writeFileSync(files.certFile, certificate.cert);
  if (certificate?.key !== undefined) writeFileSync(files.keyFile, certificate.key);
}

beforeAll(async () => {
  [first, second] = await Promise.all([certificateOf('first.example'), certificateOf('second.example')]);
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Shaken {
  readonly name: unknown;
  readonly protocol: string | null;
}

/** What a client with these versions gets. */
function shake(
  port: number,
  minVersion: SecureVersion = 'TLSv1',
  maxVersion: SecureVersion = 'TLSv1.3',
): Promise<Shaken> {
  return new Promise((resolve, reject) => {
    // Without the security level 0, OpenSSL offers nothing below 1.2, and the server is never asked.
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, minVersion, maxVersion };
    const socket: TLSSocket = connect({ ...options, ciphers: 'DEFAULT@SECLEVEL=0' }, () => {
      resolve({ name: socket.getPeerCertificate().subject.CN, protocol: socket.getProtocol() });
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

function answerOf(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
    );
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('end', () => resolve(text)).on('error', reject);
  });
}

describe('server.tls', () => {
  it('speaks TLS 1.2 and 1.3 and nothing older, and tells browsers to stay with it', async () => {
    write(first);
    const { app, port } = await startHttpApp(undefined, 2048, { tls });
    expect(await shake(port, 'TLSv1.2', 'TLSv1.2')).toEqual({ name: 'first.example', protocol: 'TLSv1.2' });
    expect(await shake(port)).toEqual({ name: 'first.example', protocol: 'TLSv1.3' });
    await expect(shake(port, 'TLSv1', 'TLSv1.1')).rejects.toThrow(/alert|version|protocol/i);
    const answer = await answerOf(port, '/api/v1/things');
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer.toLowerCase()).toContain('strict-transport-security: max-age=31536000\r\n');
    await app.close();
  });

  it('takes a certificate that is renewed, without a restart, and keeps the one before when the new one is broken', async () => {
    write(first);
    const { app, port } = await startHttpApp(undefined, 2048, { tls });
    const { log, lines } = readableLog();
    const stop = followCertificate(app.getHttpServer() as Server, files, log, 50);
    write({ key: second?.key ?? '' });
    const failed = 'failed to read the changed certificate, the one before stays';
    await until('the key alone is refused', async () => lines.some(({ msg }) => msg === failed));
    expect(await shake(port)).toMatchObject({ name: 'first.example' });
    write({ cert: second?.cert ?? '' });
    await until('the new one is shown', async () => (await shake(port)).name === 'second.example');
    expect(JSON.stringify(lines)).not.toContain('PRIVATE KEY');
    stop();
    await app.close();
  });

  it('is spoken while the service waits for its database, too', async () => {
    write(first);
    const port = await freePort();
    const room = await WaitingRoom.open(Object.assign(new ServerConfig(), { host: '127.0.0.1', port, tls }));
    expect(await answerOf(port, '/health/live')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await answerOf(port, '/api/v1/tx')).toContain('"code":"starting"');
    await room.close();
  });

  it.each([
    ['a file is missing', () => rmSync(files.keyFile)],
    ['the two do not belong together', () => write({ key: second?.key ?? '' })],
    ['a file is something else', () => write({ cert: 'nonsense' })],
  ])('is a mistake of the config when %s', (_case, spoil) => {
    write(first);
    spoil();
    expect(() => readCertificate(files)).toThrow(
      expect.objectContaining({ code: 'invalid_certificate', kind: 'invalid' }),
    );
  });
});
