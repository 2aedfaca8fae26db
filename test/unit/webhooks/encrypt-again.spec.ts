import { describe, expect, it } from '@jest/globals';
import { EncryptAgain } from '../../../src/modules/webhooks/application/encrypt-again.js';
import { webhookSecrets } from '../../support/webhook-secrets.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { anEndpoint, FakeEndpoints } from './webhook-fakes.js';

const [A, B] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe('EncryptAgain', () => {
  async function endpointsOf(...keys: readonly Buffer[]): Promise<FakeEndpoints> {
    const endpoints = new FakeEndpoints();
    for (const [index, key] of keys.entries()) {
      const id = `endpoint-${index}`;
      await endpoints.add({ ...anEndpoint({ id }), secret: webhookSecrets(key).encrypted(SECRET, id) });
    }
    return endpoints;
  }

  it('encrypts with the first key, once, and says so', async () => {
    const [endpoints, log] = [await endpointsOf(A, B), new RecordingLog()];
    const again = new EncryptAgain(endpoints, webhookSecrets(B, A), log);
    await again.execute(10);
    const [first = ''] = await endpoints.secretsOf('endpoint-0');
    expect(webhookSecrets(B).decrypted(first, 'endpoint-0')).toBe(SECRET);
    await again.execute(10);
    expect(await endpoints.secretsOf('endpoint-0')).toEqual([first]);
    expect(log.lines).toEqual([
      { event: 'webhook secrets encrypted again, with the first key', fields: { endpoints: 1 } },
    ]);
  });

  it('leaves what it cannot decrypt as it is, and tells it', async () => {
    const [endpoints, log] = [await endpointsOf(A, A), new RecordingLog()];
    const before = await endpoints.secretsOf('endpoint-0');
    for (const secrets of [webhookSecrets(B), webhookSecrets()])
      await new EncryptAgain(endpoints, secrets, log).execute(10);
    expect(await endpoints.secretsOf('endpoint-0')).toEqual(before);
    const told = {
      event: 'failed to decrypt webhook secrets: deliveries wait',
      fields: { endpoints: 2, webhook: 'endpoint-0' },
    };
    expect(log.lines).toEqual([told, told]);
  });
});
