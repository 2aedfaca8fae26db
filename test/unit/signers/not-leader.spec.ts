import { describe, expect, it } from '@jest/globals';
import { NotLeader } from '../../../src/modules/signers/domain/not-leader.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';

describe('a node that does not act for the signer', () => {
  it('names the owner, and asks to come back when its lease ends, in whole seconds', () => {
    const holder = { nodeId: 'node-b', advertisedUrl: 'http://b', expiresInMs: 2_001 };
    const error = new NotLeader(aSigner(), holder);
    expect(error).toMatchObject({
      code: 'not_leader',
      message: `another node acts for ${aSigner().address}`,
      advice: 'send the request to the owner, or try again later',
      facts: { signer: `${DEV_CHAIN}:${aSigner().address}`, ownerNodeId: 'node-b', ownerUrl: 'http://b' },
      retryable: true,
      retryAfterSeconds: 3,
    });
  });

  it.each([
    ['while nobody has the lease', null],
    ['when the lease ends at this moment', { nodeId: 'node-b', advertisedUrl: null, expiresInMs: 0 }],
  ])('asks to come back in a second %s', (_words, holder) => {
    expect(new NotLeader(aSigner(), holder)).toMatchObject({
      facts: { ownerNodeId: holder?.nodeId ?? null, ownerUrl: null },
      retryAfterSeconds: 1,
    });
  });
});
