import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import { Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const [ALICE] = DEV_ACCOUNTS;
let database: TestDatabase;
let service: Service;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await Service.start({ databaseUrl: database.url, rpcUrl: 'http://127.0.0.1:9' });
});
afterAll(async () => {
  await service.stop();
  await database.drop();
});

it('an internal error tells neither statement nor stack, and the log has both', async () => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('ALTER TABLE webhook_endpoint RENAME TO elsewhere');
  const listed = await service.get('/api/v1/webhooks');
  const created = await service.post('/api/v1/webhooks', { url: 'https://example.com/hook' });
  await client.query('ALTER TABLE elsewhere RENAME TO webhook_endpoint');
  await client.end();
  for (const { status, body } of [listed, created]) {
    expect([status, body['code']]).toEqual([500, 'internal_error']);
    expect(JSON.stringify(body)).not.toMatch(
      /SELECT|INSERT|webhook_endpoint|relation|42P01|whsec_|dist\/|\.js|node_modules/,
    );
  }
  const [logged] = service.logged('http.internal_error');
  expect(JSON.stringify(logged)).toMatch(/webhook_endpoint.*stack|stack.*webhook_endpoint/);
  expect(service.log.join('')).not.toMatch(/whsec_|aes256gcm:/);
});

it('Swagger UI asks for nothing that the headers of its page forbid', async () => {
  const { headers, body } = await service.get<{ text: string }>('/docs');
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("script-src 'self'");
  const scripts = [...body.text.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)];
  expect(scripts.length).toBeGreaterThan(1);
  for (const [, attributes = '', inline = ''] of scripts) {
    expect(attributes).toMatch(/src="(?!https?:|\/\/)/);
    expect(inline.trim()).toBe('');
  }
  for (const [, src = ''] of body.text.matchAll(/<script[^>]*src="([^"]+)"/g)) {
    const script = await service.get(new URL(src, `${service.url}/docs`).pathname);
    expect(script.status).toBe(200);
  }
});

const canConfine = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

(canConfine ? it : it.skip)(
  'an ordinary user without rights runs the service where no file can be written',
  async () => {
    const own = await createTestDatabase();
    const confined = await Service.start({ databaseUrl: own.url, rpcUrl: 'http://127.0.0.1:9', confined: true });
    const status = readFileSync(`/proc/${confined.pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t65534\t65534/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd'])
      expect(status).toMatch(new RegExp(`^${set}:\t0+$`, 'm'));
    expect(readFileSync(`/proc/${confined.pid}/mounts`, 'utf8')).toMatch(/^\S+ \/ \S+ ro[, ]/m);
    const { status: created } = await confined.post('/api/v1/webhooks', { url: 'https://example.com/hook' });
    const blobs = { signer: ALICE, requestId: 'one', payload: { to: ALICE, blobs: [`0x${'00'.repeat(131_072)}`] } };
    const { status: accepted } = await confined.post('/api/v1/tx', blobs);
    expect([created, accepted]).toEqual([201, 202]);
    expect((await confined.get('/docs')).status).toBe(200);
    expect(confined.log.join('')).not.toMatch(/EROFS|EACCES|EPERM/);
    expect(await confined.stop()).toBe(0);
    await own.drop();
  },
);
