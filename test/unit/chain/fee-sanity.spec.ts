import { afterEach, describe, expect, it } from '@jest/globals';
import { AcceptedBaseFee, hasTipJump, isReachable, lowerMedian } from '../../../src/modules/chain/domain/fee-sanity.js';
import type { FeeQuote } from '../../../src/modules/chain/domain/fee-quote.js';
import { until } from '../../support/until.js';
import { aConnector } from './chain-fixture.js';
import { type FakeAnswer, FakeRpcServer, type RpcCall } from './fake-rpc-server.js';

const GWEI = 1_000_000_000n;
const MAD = 1_000_000n * GWEI;
const hex = (n: number | bigint) => `0x${n.toString(16)}`;

function aQuote(tip: bigint, baseFeePerGas = GWEI, blockNumber = 100): FeeQuote {
  return {
    blockNumber,
    hasBaseFee: true,
    baseFeePerGas,
    tips: { slow: tip, standard: tip, fast: tip, urgent: tip },
    congestedTip: tip,
    blobBaseFee: null,
  };
}

describe('a base fee', () => {
  const at = (number: number, fee: bigint) => ({ number, fee });

  it('is reachable within what EIP-1559 allows, and some slack', () => {
    expect(isReachable(at(100, GWEI), at(101, 2n * GWEI))).toBe(true);
    expect(isReachable(at(100, GWEI), at(101, 3n * GWEI))).toBe(false);
    expect(isReachable(at(100, GWEI), at(120, 20n * GWEI))).toBe(true);
    expect(isReachable(at(100, GWEI), at(101, GWEI / 3n))).toBe(false);
    expect(isReachable(at(100, 8n * GWEI), at(101, 18n * GWEI))).toBe(true);
  });

  it('is reachable wherever it differs by next to nothing', () => {
    expect(isReachable(at(100, 7n), at(101, 900_000n))).toBe(true);
    expect(isReachable(at(100, 300_000n), at(101, 1_300_000n))).toBe(true);
    expect(isReachable(at(100, 300_000n), at(101, 1_300_001n))).toBe(false);
  });

  it('of a quote is for the block after it', () => {
    const baseFee = new AcceptedBaseFee();
    baseFee.saw(at(100, GWEI), 0);
    expect(baseFee.allows(aQuote(1n, 3n * GWEI, 103))).toBe(true);
    expect(baseFee.allows(aQuote(1n, 3n * GWEI, 102))).toBe(false);
  });

  it('that jumps is not confirmed by another answer for the same block, nor that by the next block', () => {
    const baseFee = new AcceptedBaseFee();
    baseFee.saw(at(100, GWEI), 0);
    baseFee.saw(at(101, MAD), 0);
    baseFee.saw(at(101, 1_000n * MAD), 0);
    baseFee.saw(at(102, 1_000n * MAD), 0);
    expect(baseFee.allows(aQuote(1n, 1_000n * MAD, 102))).toBe(false);
  });

  it('that jumps is accepted when the same block still has it after a minute, for chains without empty blocks', () => {
    const baseFee = new AcceptedBaseFee();
    baseFee.saw(at(100, MAD), 0);
    baseFee.saw(at(101, GWEI), 1_000);
    baseFee.saw(at(101, GWEI), 60_999);
    expect(baseFee.allows(aQuote(1n, GWEI, 101))).toBe(false);
    baseFee.saw(at(101, GWEI), 61_000);
    expect(baseFee.allows(aQuote(1n, GWEI, 101))).toBe(true);
  });

  it('that jumps, and that another answer for the same block denies, needs another minute', () => {
    const baseFee = new AcceptedBaseFee();
    baseFee.saw(at(100, MAD), 0);
    baseFee.saw(at(101, 1_000n * MAD), 0);
    baseFee.saw(at(101, GWEI), 60_000);
    expect(baseFee.allows(aQuote(1n, GWEI, 101))).toBe(false);
    baseFee.saw(at(101, GWEI), 120_000);
    expect(baseFee.allows(aQuote(1n, GWEI, 101))).toBe(true);
  });

  it('that jumps is accepted at the second block that has it', () => {
    const baseFee = new AcceptedBaseFee();
    expect(baseFee.allows(aQuote(1n, MAD))).toBe(true);
    baseFee.saw(at(100, GWEI), 0);
    expect(baseFee.allows(aQuote(1n, MAD))).toBe(false);
    baseFee.saw(at(101, MAD), 0);
    baseFee.saw(at(101, MAD), 0);
    expect(baseFee.allows(aQuote(1n, MAD, 101))).toBe(false);
    baseFee.saw(at(102, MAD), 0);
    expect(baseFee.allows(aQuote(1n, MAD, 102))).toBe(true);
  });
});

describe('quotes of several endpoints', () => {
  it('cannot be raised by one of two or more', () => {
    expect(lowerMedian([aQuote(MAD), aQuote(GWEI)])).toEqual(aQuote(GWEI));
    expect(lowerMedian([aQuote(GWEI), aQuote(MAD), aQuote(2n * GWEI)])).toEqual(aQuote(2n * GWEI));
    expect(lowerMedian([])).toBeNull();
  });

  it('are not mixed when some say that the chain has a base fee and others that it has none', () => {
    const plain = { ...aQuote(3n * GWEI, 0n), hasBaseFee: false };
    expect(lowerMedian([aQuote(GWEI), plain, plain])).toEqual(plain);
    expect(lowerMedian([aQuote(GWEI), plain])).toEqual(plain);
    expect(lowerMedian([aQuote(GWEI), aQuote(GWEI), plain])).toEqual(aQuote(GWEI));
  });

  it('have a blob fee when at least half of them tell one', () => {
    const withBlobs = (blobBaseFee: bigint | null) => ({ ...aQuote(GWEI), blobBaseFee });
    expect(lowerMedian([withBlobs(5n), withBlobs(null)])?.blobBaseFee).toBe(5n);
    expect(lowerMedian([withBlobs(MAD), withBlobs(5n)])?.blobBaseFee).toBe(5n);
    expect(lowerMedian([withBlobs(5n), withBlobs(null), withBlobs(null)])?.blobBaseFee).toBeNull();
  });

  it('leap when a tip is ten times the last one, and not on a chain that wakes up', () => {
    expect(hasTipJump(aQuote(2n * GWEI), aQuote(21n * GWEI))).toBe(true);
    expect(hasTipJump(aQuote(2n * GWEI), aQuote(20n * GWEI))).toBe(false);
    const urgent = { ...aQuote(GWEI), tips: { ...aQuote(GWEI).tips, urgent: 11n * GWEI } };
    expect(hasTipJump(aQuote(GWEI), urgent)).toBe(true);
    expect(hasTipJump(aQuote(1n), aQuote(GWEI))).toBe(false);
  });
});

interface Market {
  readonly head: number;
  readonly tip: bigint;
  readonly baseFee: bigint;
  /** Of the header; that of the quote when not given. */
  readonly headFee?: bigint;
  /** No transaction in its blocks. */
  readonly isQuiet?: boolean;
}

function market({ head, tip, baseFee, headFee = baseFee, isQuiet = false }: Market): (call: RpcCall) => FakeAnswer {
  return ({ method }) => {
    if (method === 'eth_feeHistory')
      return {
        result: {
          oldestBlock: hex(head),
          baseFeePerGas: [hex(baseFee), hex(baseFee)],
          gasUsedRatio: [isQuiet ? 0 : 0.5],
          reward: [[tip, tip, tip, tip, tip].map(hex)],
        },
      };
    const hash = `0x${head.toString(16).padStart(64, '0')}`;
    return {
      result: { number: hex(head), hash, parentHash: hash, timestamp: '0x1', baseFeePerGas: hex(headFee) },
    };
  };
}

describe('a fee quote that is signed', () => {
  const servers: FakeRpcServer[] = [];
  const pools: { close(): Promise<void> }[] = [];

  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  const start = async (...markets: Market[]) => {
    for (const each of markets) {
      const server = await new FakeRpcServer().start();
      server.answer = market(each);
      servers.push(server);
    }
    const fixture = aConnector(servers.map(({ url }) => url));
    pools.push(fixture.pool);
    const look = async (...now: Market[]) => {
      now.forEach((each, i) => {
        const server = servers[i];
        if (server) server.answer = market(each);
      });
      fixture.clock.advance(1_100);
      await fixture.connector.head();
      return fixture.connector.feeQuote();
    };
    return { ...fixture, look };
  };

  const HONEST: Market = { head: 100, tip: GWEI, baseFee: GWEI };

  it.each([0, 1])('is not that of one mad endpoint of two, whatever its place: %d', async (place) => {
    const markets = [HONEST, HONEST].toSpliced(place, 1, { head: 100, tip: MAD, baseFee: MAD, headFee: GWEI });
    const { look } = await start(...markets);
    expect(await look()).toEqual(aQuote(GWEI));
  });

  it('is the one that fits the heads when the other is far too low', async () => {
    const { look } = await start(HONEST, { ...HONEST, baseFee: 0n, tip: 0n, headFee: GWEI });
    expect(await look()).toMatchObject({ baseFeePerGas: GWEI });
  });

  it('needs no heads: the quotes of a second block confirm a jump of the base fee', async () => {
    const { connector, clock, look } = await start(HONEST, HONEST);
    await look();
    const quoteAt = (head: number) => {
      for (const server of servers) server.answer = market({ head, tip: GWEI, baseFee: 20n * GWEI });
      clock.advance(61_000);
      return connector.feeQuote();
    };
    expect(await quoteAt(101)).toMatchObject({ baseFeePerGas: 2_531_250_000n });
    expect(await quoteAt(102)).toMatchObject({ baseFeePerGas: 20n * GWEI });
  });

  it('costs one call at each endpoint a second', async () => {
    const { connector } = await start(HONEST, HONEST);
    await Promise.all([connector.feeQuote(), connector.feeQuote()]);
    await connector.feeQuote();
    expect(servers.map(({ asked }) => asked)).toEqual([['eth_feeHistory'], ['eth_feeHistory']]);
  });

  it.each([
    ['older than the head', 100, 101],
    ['as new as a head that was seen after it', 102, 102],
  ])('costs one call a second also when it is %s', async (_words, quoted, head) => {
    const { connector } = await start(HONEST);
    const [server] = servers;
    if (server)
      server.answer = (call) => market({ ...HONEST, head: call.method === 'eth_feeHistory' ? quoted : head })(call);
    if (quoted < head) await connector.head();
    await connector.feeQuote();
    if (quoted >= head) await connector.head();
    await connector.feeQuote();
    expect(server?.asked.filter((method) => method === 'eth_feeHistory')).toHaveLength(1);
  });

  it('is at once the one with a leap of the tip that two endpoints tell', async () => {
    const { look } = await start(HONEST, HONEST);
    expect(await look()).toEqual(aQuote(GWEI));
    const risen = { ...HONEST, head: 101, tip: MAD };
    expect(await look(risen, risen)).toEqual(aQuote(MAD, GWEI, 101));
  });

  describe('of an endpoint that lags or is ahead', () => {
    /** At these heads; the one that is not at 100 tells half the tip of the others. */
    const compared = async (...heads: number[]) => {
      const tipAt = (head: number) => (head === 100 ? 2n * GWEI : GWEI);
      const fixture = await start(...heads.map((head) => ({ head, tip: tipAt(head), baseFee: GWEI })));
      servers.forEach((server, i) => (server.head = heads[i] ?? 0));
      await until('the heads are compared', async () => {
        await fixture.pool.answers('sign_fee', []);
        return fixture.pool.status().some(({ state }) => state === 'lagging' || state === 'ahead');
      });
      return fixture;
    };

    it.each([
      ['lags, of two', [80, 100]],
      ['is ahead, of two', [100, 0xffffff]],
      ['lags, of three', [80, 100, 100]],
    ])('has no say: one that %s', async (_words, heads) => {
      const { connector } = await compared(...heads);
      expect(await connector.feeQuote()).toEqual(aQuote(2n * GWEI));
    });

    it('is used when nobody else tells any', async () => {
      const { connector } = await compared(80, 100);
      for (const server of servers.slice(1)) server.answer = () => ({ error: { message: 'missing trie node' } });
      expect(await connector.feeQuote()).toEqual(aQuote(GWEI, GWEI, 80));
    });
  });

  describe('where no block has transactions', () => {
    /** Endpoints with empty blocks, and what each suggests; null: nothing. */
    const quiet = async (...suggestions: (bigint | null)[]) => {
      const fixture = await start(...suggestions.map(() => ({ ...HONEST, isQuiet: true })));
      servers.forEach((server, i) => {
        const { answer } = server;
        const tip = suggestions[i] ?? null;
        server.answer = (call) => {
          if (call.method !== 'eth_maxPriorityFeePerGas') return answer(call);
          return tip === null ? { error: { message: 'method not found' } } : { result: hex(tip) };
        };
      });
      return fixture.connector;
    };

    it.each([[[3n, 2n, 4n]], [[2n, 3n]], [[3n, 2n]]])('has the lowest tip that any suggests: %p', async (tips) => {
      const connector = await quiet(...tips.map((tip) => tip * GWEI));
      expect(await connector.feeQuote()).toEqual(aQuote(2n * GWEI));
    });

    it('is told by those that see the market, and by what the others suggest', async () => {
      const connector = await quiet(2n * GWEI, 2n * GWEI, 2n * GWEI);
      for (const server of servers.slice(2)) server.answer = market({ ...HONEST, tip: 3n * GWEI });
      expect(await connector.feeQuote()).toEqual(aQuote(2n * GWEI));
    });

    it('has the least tip there is when nobody suggests any', async () => {
      expect(await (await quiet(null, null)).feeQuote()).toEqual(aQuote(1n));
    });

    it('is asked what it suggests also where it is the only endpoint', async () => {
      expect(await (await quiet(2n * GWEI)).feeQuote()).toEqual(aQuote(2n * GWEI));
    });
  });

  it('is not told by less than half of the endpoints', async () => {
    const { connector } = await start(HONEST, HONEST, HONEST);
    for (const server of servers.slice(1)) server.answer = () => ({ error: { message: 'missing trie node' } });
    await expect(connector.feeQuote()).rejects.toMatchObject({ code: 'rpc_unavailable' });
  });

  describe('of a single endpoint', () => {
    it('with a leap of the tip is used when a second block has it, too', async () => {
      const { look } = await start(HONEST);
      expect(await look()).toEqual(aQuote(GWEI));
      const mad = { ...HONEST, tip: MAD };
      expect(await look({ ...mad, head: 101 })).toEqual(aQuote(GWEI));
      expect(await look({ ...mad, head: 101 })).toEqual(aQuote(GWEI));
      expect(await look({ ...mad, head: 102 })).toEqual(aQuote(MAD, GWEI, 102));
    });

    it('with a leap of the tip needs a second block anew after a block without it', async () => {
      const { look } = await start(HONEST);
      expect(await look()).toEqual(aQuote(GWEI));
      const mad = { ...HONEST, tip: MAD };
      expect(await look({ ...mad, head: 101 })).toEqual(aQuote(GWEI));
      expect(await look({ ...HONEST, head: 102 })).toEqual(aQuote(GWEI, GWEI, 102));
      expect(await look({ ...mad, head: 103 })).toEqual(aQuote(GWEI, GWEI, 102));
      expect(await look({ ...mad, head: 104 })).toEqual(aQuote(MAD, GWEI, 104));
    });

    it('with a leap of the tip is not confirmed by what follows another answer for the same block', async () => {
      const { look } = await start(HONEST);
      expect(await look()).toEqual(aQuote(GWEI));
      expect(await look({ ...HONEST, head: 101, tip: MAD })).toEqual(aQuote(GWEI));
      expect(await look({ ...HONEST, head: 101, tip: 1_000n * MAD })).toEqual(aQuote(GWEI));
      expect(await look({ ...HONEST, head: 102, tip: 1_000n * MAD })).toEqual(aQuote(GWEI));
    });

    it('with a leap of the tip counts with ten times the last one when that is too old to stand in, until a second block has it', async () => {
      const { look, clock } = await start(HONEST);
      await look();
      clock.advance(60_000);
      const mad = { ...HONEST, tip: MAD, baseFee: 2n * GWEI };
      expect(await look({ ...mad, head: 115 })).toEqual(aQuote(10n * GWEI, 2n * GWEI, 115));
      expect(await look({ ...mad, head: 115 })).toEqual(aQuote(10n * GWEI, 2n * GWEI, 115));
      expect(await look({ ...mad, head: 116 })).toEqual(aQuote(MAD, 2n * GWEI, 116));
    });

    it('with a leap of the tip is used when the same block has it a minute later, for chains without empty blocks', async () => {
      const { look, clock } = await start(HONEST);
      await look();
      const mad = { ...HONEST, head: 101, tip: MAD };
      expect(await look(mad)).toEqual(aQuote(GWEI));
      clock.advance(57_000);
      expect(await look(mad)).toEqual(aQuote(GWEI));
      clock.advance(1_000);
      expect(await look(mad)).toEqual(aQuote(MAD, GWEI, 101));
    });

    it.each([
      ['high', MAD, 2_250_000_000n],
      ['low', 1n, 444_444_445n],
    ])(
      'with a base fee that is too %s for the heads is not used for a minute, and then as far as it is reachable',
      async (_words, baseFee, reachable) => {
        const { look, connector, clock } = await start(HONEST);
        expect(await look()).toEqual(aQuote(GWEI));
        const mad = { ...HONEST, baseFee, headFee: GWEI };
        expect(await look(mad)).toEqual(aQuote(GWEI));
        clock.advance(61_000);
        expect(await connector.feeQuote()).toEqual(aQuote(GWEI, reachable));
        expect(await look(HONEST)).toEqual(aQuote(GWEI));
      },
    );

    it('without a base fee is refused after a minute while the heads have one', async () => {
      const { look, connector, clock } = await start(HONEST);
      await look();
      const header = market(HONEST)({ id: 1, method: 'eth_getBlockByNumber', params: [] });
      for (const server of servers)
        server.answer = ({ method }) => {
          if (method === 'eth_gasPrice') return { result: hex(MAD) };
          if (method !== 'eth_getBlockByNumber') return { error: { message: 'method not found' } };
          return { result: { ...(header as { result: object }).result, baseFeePerGas: undefined } };
        };
      clock.advance(61_000);
      await expect(connector.feeQuote()).rejects.toThrow('do not fit heads with a base fee');
    });
  });
});
