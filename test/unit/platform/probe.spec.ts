import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ServerConfig, TlsConfig } from '../../../src/config/index.js';
import { freePort } from '../../../src/dev/free-port.js';
import { isWell } from '../../../src/platform/http/probe.js';
import { WaitingRoom } from '../../../src/platform/http/waiting-room.js';
import { certificateOf } from '../webhooks/certificates.js';

const folder = mkdtempSync(join(tmpdir(), 'lockstep-probe-'));
const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };

beforeAll(async () => {
  const { cert, key } = await certificateOf('lockstep.example');
  writeFileSync(files.certFile, cert);
  writeFileSync(files.keyFile, key);
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['plain HTTP', false, false],
  ['TLS, with a certificate of another name', true, false],
  ['plain HTTP and a port for probes', false, true],
  ['TLS and a port for probes', true, true],
])('a node with %s answers its probes where its config says', async (_with, hasTls, hasOpsPort) => {
  const port = await freePort();
  const opsPort = hasOpsPort ? { opsPort: await freePort() } : {};
  const tls = Object.assign(new TlsConfig(), hasTls ? files : {});
  const config = Object.assign(new ServerConfig(), { host: '127.0.0.1', port, tls, ...opsPort });
  expect(await isWell(`${config.probesUrl}/health/live`)).toBe(false);
  const room = await WaitingRoom.open(config);
  expect(await isWell(`${config.probesUrl}/health/live`)).toBe(true);
  expect(await isWell(`${config.probesUrl}/health/ready`)).toBe(false);
  await room.close();
});

it.each([
  ['0.0.0.0', 'http://localhost:3000'],
  ['::', 'http://localhost:3000'],
  ['10.0.0.1', 'http://10.0.0.1:3000'],
  ['fd00::1', 'http://[fd00::1]:3000'],
])('a node that listens at %s is asked at %s from its own machine', (host, url) => {
  expect(Object.assign(new ServerConfig(), { host }).ownUrl).toBe(url);
});
