import { expect, it } from '@jest/globals';
import { PostDelivery } from '../../../src/modules/webhooks/application/post-delivery.js';
import { WebhookSignatures } from '../../../src/modules/webhooks/application/webhook-signatures.js';
import { aClaimed } from './delivery-fakes.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { PlainSecrets } from '../../support/webhook-secrets.js';
import { FakeSender, OK } from './webhook-fakes.js';

const sender = new FakeSender();
const post = new PostDelivery(sender, new WebhookSignatures(), new PlainSecrets(), new FakeClock());

it('has the id of its event, and one signature for each secret', async () => {
  const [old] = aClaimed(5).secrets;
  expect(await post.execute(aClaimed(5, { secrets: [old ?? '', old ?? ''] }))).toEqual(OK);
  const headers: Readonly<Record<string, string>> = sender.sent[0]?.headers ?? {};
  expect(headers['webhook-id']).toBe('7-5-0');
  expect(headers['webhook-signature']?.split(' ').length).toBe(2);
});

it('answers with a failure when it cannot sign, and sends nothing', async () => {
  sender.sent.length = 0;
  expect(await post.execute(aClaimed(6, { secrets: ['broken'] }))).toMatchObject({
    status: null,
    error: expect.stringMatching(/^failed: /),
  });
  expect(sender.sent).toEqual([]);
});
