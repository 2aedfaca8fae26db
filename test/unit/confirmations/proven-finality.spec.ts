import { beforeEach, describe, expect, it } from '@jest/globals';
import type { BlockRef, FinalHeights, FinalityRule, HeadTracker } from '../../../src/modules/chain/index.js';
import { byDepth } from '../../../src/modules/chain/domain/final-heights.js';
import { ProvenFinality } from '../../../src/modules/confirmations/application/proven-finality.js';
import { aHash, aManagedTx, aSigner } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { TxsInMemory } from './txs-in-memory.js';

const DEPTH = 2;
const HEAD = 9;
const SIGNER = aSigner();

let chain: ModelChain;
let txs: TxsInMemory;
let log: RecordingLog;
/** Whether it costs a call to say which heights are final, and heads for which that was asked. */
let asksTheChain: boolean;
let heightsOf: number[];
let heights: (head: number) => FinalHeights | null;
/** The newest block that the endpoints agree on. */
let agreedHead: (head: number) => BlockRef | null;
/** How often the endpoints were asked for that. */
let agreements: number;
let proven: ProvenFinality;

beforeEach(() => {
  [chain, txs, log] = [new ModelChain(), new TxsInMemory(), new RecordingLog()];
  chain.mineEmpty(HEAD);
  [asksTheChain, heightsOf, agreements] = [false, [], 0];
  heights = (head) => byDepth(head, DEPTH);
  agreedHead = (head) => chain.blockAt(head);
  const repository = Object.assign(txs, { anyMined: async () => txs.states().includes('MINED') });
  proven = new ProvenFinality(
    new ModelChains(chain),
    { hashAt: (_: unknown, n: number) => chain.blockAt(n)?.hash ?? null } as unknown as HeadTracker,
    repository.asRepository(),
    {
      asksTheChain: () => asksTheChain,
      heights: async (_: unknown, head: number) => {
        heightsOf.push(head);
        return heights(head);
      },
      agreedHead: async (_: unknown, head: number) => {
        agreements += 1;
        return agreedHead(head);
      },
    } as unknown as FinalityRule,
    log,
  );
});

function minedAt(blockNumber: number): void {
  txs.put(aManagedTx().allocated(0n).sent().mined({ blockNumber }).build());
}

const upTo = (): Promise<FinalHeights | null> => proven.execute(chain.chainId, [SIGNER], HEAD);

describe('what is final', () => {
  it('is counted from the followed head, when the endpoints agree on it', async () => {
    minedAt(HEAD - DEPTH);
    expect(await upTo()).toEqual(byDepth(HEAD, DEPTH));
    expect(heightsOf).toEqual([HEAD]);
  });

  it('is counted from the newest block that the endpoints agree on', async () => {
    minedAt(1);
    agreedHead = (head) => chain.blockAt(head - 1);
    expect(await upTo()).toEqual(byDepth(HEAD - 1, DEPTH));
  });

  it.each([
    ['agree on another branch than this node follows', (number: number) => ({ number, hash: aHash(0xdead) })],
    ['agree on nothing, or one alone said it only once', () => null],
  ])('is nothing while the endpoints %s, and that is logged', async (_words, agreed) => {
    minedAt(1);
    agreedHead = agreed;
    expect(await upTo()).toBeNull();
    expect(log.lines).toMatchObject([{ fields: { chainId: chain.chainId, head: HEAD } }]);
  });

  it('is nothing while the chain does not answer for its tag', async () => {
    minedAt(1);
    heights = () => null;
    expect([await upTo(), agreements]).toEqual([null, 0]);
  });
});

describe('the endpoints are not asked', () => {
  it('while nothing is deep enough', async () => {
    minedAt(HEAD - DEPTH + 1);
    expect([await upTo(), agreements, log.lines]).toEqual([null, 0, []]);
  });

  it('for their tag while the chain has nothing MINED', async () => {
    asksTheChain = true;
    expect([await upTo(), heightsOf]).toEqual([null, []]);
    minedAt(1);
    expect([await upTo(), heightsOf]).toEqual([byDepth(HEAD, DEPTH), [HEAD]]);
  });
});
