import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { FindNonce } from '../../../src/modules/ops/application/find-nonce.js';
import { NonceStanding } from '../../../src/modules/ops/application/nonce-standing.js';
import type { SlotView } from '../../../src/modules/ops/application/slot-queries.js';
import { aHash, aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { aSlot, someSlots } from './slots-fixture.js';

const BLOCK = { number: 5, hash: aHash(5) };

interface Known {
  readonly latest?: bigint | null;
  readonly slot?: SlotView | null;
  readonly user?: { txHash: ReturnType<typeof aHash>; block: typeof BLOCK; sent: null } | null;
}

async function find(nonce: bigint, { latest = 8n, slot = null, user = null }: Known = {}) {
  const chain = new ModelChain();
  const asked: unknown[] = [];
  chain.nonceUses = async (questions) => (asked.push(...questions), [{ kind: 'passed', head: BLOCK, user }]);
  const sequence = { cursor: 9n, chain: latest === null ? null : { latest, pending: 8n }, missing: null };
  const standing = fakeOf(NonceStanding, { of: async () => sequence });
  const slots = someSlots({ find: async () => slot });
  const { onChain } = await new FindNonce(new ModelChains(chain), slots, standing).execute(aSigner(), nonce, ANYONE);
  return { onChain, asked };
}

describe('the transaction that used a nonce', () => {
  it('is what our books say, without a question', async () => {
    const onChain = { txHash: aHash(1), block: BLOCK };
    expect(await find(7n, { slot: aSlot({ onChain }) })).toEqual({ onChain, asked: [] });
  });

  it('is asked for when the chain counts the nonce as used', async () => {
    const user = { txHash: aHash(2), block: BLOCK, sent: null };
    expect(await find(7n, { user })).toEqual({
      onChain: { txHash: aHash(2), block: BLOCK },
      asked: [{ account: aSigner().address, nonce: 7n, hashes: [] }],
    });
    expect((await find(7n)).onChain).toEqual({ txHash: null, block: null });
  });

  it('is nobody’s as long as the nonce is not used, or the chain does not say so', async () => {
    expect(await find(8n)).toEqual({ onChain: null, asked: [] });
    expect(await find(7n, { latest: null })).toEqual({ onChain: null, asked: [] });
  });
});
