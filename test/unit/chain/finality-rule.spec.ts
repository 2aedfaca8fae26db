import { beforeEach, describe, expect, it } from '@jest/globals';
import { configFrom, type FinalityMode } from '../../../src/config/index.js';
import { type BlockHeader, type FinalityTag, RpcUnavailable } from '../../../src/modules/chain/index.js';
import { ChainRules } from '../../../src/modules/chain/application/chain-rules.js';
import { FinalityRule } from '../../../src/modules/chain/application/finality-rule.js';
import { aHash, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from './chain-fixture.js';

/** A node that answers for its tags as a test wants it, and counts the questions. */
class Tags {
  readonly chainId = DEV_CHAIN;
  readonly asked: FinalityTag[] = [];
  answer: () => number | null = () => null;

  async taggedHead(tag: FinalityTag): Promise<BlockHeader | null> {
    this.asked.push(tag);
    const number = this.answer();
    const header = { hash: aHash(1), parentHash: aHash(2), timestamp: 0, baseFeePerGas: null, receiptsRoot: null };
    return number === null ? null : { number, ...header };
  }
}

let tags: Tags;
let clock: FakeClock;
let log: RecordingLog;

beforeEach(() => {
  tags = new Tags();
  clock = new FakeClock();
  log = new RecordingLog();
});

function ruleOf(confirmations: { finality?: FinalityMode; required?: number }, ofChain?: object): FinalityRule {
  const config = configFrom({
    database: { url: 'postgres://nobody@localhost/none' },
    confirmations,
    chains: [{ id: DEV_CHAIN, rpcUrls: ['http://127.0.0.1:1'], ...(ofChain && { confirmations: ofChain }) }],
  });
  return new FinalityRule(new ChainRules(config), clock, log);
}

describe('finality by depth', () => {
  it('is the default, counts from the head, and asks the node nothing', async () => {
    const rule = ruleOf({ required: 3 });
    expect(rule.asksTheChain(DEV_CHAIN)).toBe(false);
    expect(await rule.heights(tags, 10)).toEqual({ byRule: 7, head: 10, ceiling: 10 });
    expect(tags.asked).toEqual([]);
  });

  it('is what a chain can have although the others go by a tag', async () => {
    const rule = ruleOf({ finality: 'safe' }, { finality: 'depth', required: 4 });
    expect(await rule.heights(tags, 10)).toMatchObject({ byRule: 6 });
  });
});

describe.each(['safe', 'finalized'] as const)('finality by the tag %s', (finality) => {
  it('ends at its block, whatever the depth, in one question', async () => {
    tags.answer = () => 8;
    const rule = ruleOf({ required: 20 }, { finality });
    expect(rule.asksTheChain(DEV_CHAIN)).toBe(true);
    expect(await rule.heights(tags, 10)).toEqual({ byRule: 8, head: 10, ceiling: 8 });
    expect(tags.asked).toEqual([finality]);
  });

  it('does not go beyond the blocks that were followed', async () => {
    tags.answer = () => 12;
    expect(await ruleOf({ finality }).heights(tags, 10)).toEqual({ byRule: 10, head: 10, ceiling: 10 });
  });
});

describe('a node that does not answer for the tag', () => {
  const unavailable = (): never => {
    throw new RpcUnavailable(
      'rpc_unavailable',
      { chainId: DEV_CHAIN, method: 'eth_getBlockByNumber' },
      'unknown block tag',
    );
  };

  it.each<[string, () => number | null, string]>([
    ['has no such block', () => null, 'the node has no block under this tag'],
    ['refuses the question', unavailable, 'unknown block tag'],
  ])('because it %s makes nothing final, and the log says so once a minute', async (_why, answer, words) => {
    tags.answer = answer;
    const rule = ruleOf({ finality: 'finalized', required: 1 });
    for (const wait of [0, 30_000, 29_999]) {
      clock.advance(wait);
      expect(await rule.heights(tags, 1_000)).toBeNull();
    }
    expect(log.lines).toMatchObject([
      { fields: { chainId: DEV_CHAIN, tag: 'finalized', error: expect.stringContaining(words) } },
    ]);
    clock.advance(1);
    await rule.heights(tags, 1_000);
    expect(log.lines).toHaveLength(2);
  });

  it('is not what a programming error is taken for', async () => {
    tags.answer = () => {
      throw new TypeError('no');
    };
    await expect(ruleOf({ finality: 'safe' }).heights(tags, 1)).rejects.toThrow(TypeError);
  });
});
