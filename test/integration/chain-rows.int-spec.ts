import { describe, expect, it } from '@jest/globals';
import type { Block } from '../../src/modules/chain/domain/block.js';
import { PgBlockStore } from '../../src/modules/chain/infrastructure/pg-block-store.js';
import { PgChainActivity } from '../../src/modules/confirmations/infrastructure/pg-chain-activity.js';
import { signerKey } from '../../src/kernel/signer-id.js';
import { PgSignerDirectory } from '../../src/modules/signers/infrastructure/pg-signer-directory.js';
import { aHash, aSigner, DEV_CHAIN } from '../support/builders.js';
import { storedRows } from '../support/stored-rows.js';

const stored = await storedRows();
const { database } = stored.node;
const blocks = new PgBlockStore(database);

/** Block `n` of a branch, on top of block `n - 1` of it, or of another. */
const aBlock = (n: number, branch = 0, onBranch = branch): Block => ({
  number: n,
  hash: aHash(branch * 0x1000 + n),
  parentHash: aHash(onBranch * 0x1000 + n - 1),
  timestamp: n,
  baseFeePerGas: null,
  receiptsRoot: null,
  transactionHashes: [],
  listsAll: true,
});
const advance = (...canonical: readonly Block[]): Promise<void> => blocks.advance(DEV_CHAIN, [], canonical);
/** @returns the numbers of those that were begun before */
const begin = async (above: number, ...begun: readonly Block[]): Promise<number[]> =>
  (await blocks.begin(DEV_CHAIN, begun, above)).map(({ number }) => number).sort((a, b) => a - b);
const recent = async (limit = 100): Promise<number[]> =>
  (await blocks.recent(DEV_CHAIN, limit)).map(({ hash }) => Number(hash));

describe('the blocks of a chain', () => {
  it('are told from the lowest to the newest, so many of the newest', async () => {
    await advance(aBlock(2), aBlock(3), aBlock(1));
    await blocks.advance(7, [], [aBlock(4)]);
    expect(await blocks.recent(DEV_CHAIN, 2)).toEqual([
      { number: 2, hash: aHash(2), parentHash: aHash(1) },
      { number: 3, hash: aHash(3), parentHash: aHash(2) },
    ]);
    expect(await recent()).toEqual([1, 2, 3]);
  });

  it('end where one is not the parent of the next', async () => {
    await advance(aBlock(1), aBlock(2), aBlock(4), aBlock(5));
    expect(await recent()).toEqual([4, 5]);
  });

  it('are canonical no more when they are orphaned or another is at their height, on their chain only', async () => {
    for (const chain of [DEV_CHAIN, 7]) await blocks.advance(chain, [], [aBlock(1), aBlock(2), aBlock(3)]);
    await blocks.advance(DEV_CHAIN, [aHash(3)], [aBlock(2, 1, 0)]);
    expect(await recent()).toEqual([1, 0x1002]);
    expect(await blocks.recent(7, 10)).toHaveLength(3);
    const orphans = await blocks.orphaned(DEV_CHAIN, 100);
    expect(orphans.map(({ hash }) => hash).sort()).toEqual([aHash(2), aHash(3)]);
  });

  it('are canonical again when the chain goes back to them', async () => {
    await advance(aBlock(1), aBlock(2));
    await advance(aBlock(2, 1, 0));
    await advance(aBlock(2));
    expect(await recent()).toEqual([1, 2]);
  });

  it('that come again are not written again', async () => {
    const rows = (): Promise<object[]> => stored.read('SELECT number, xmin::text FROM chain_block ORDER BY number');
    await advance(aBlock(1), aBlock(2));
    const before = await rows();
    await advance(aBlock(1), aBlock(2));
    expect(await rows()).toEqual(before);
  });

  it('that were only begun are neither canonical nor orphaned, and are told when the next ones begin', async () => {
    await advance(aBlock(1));
    expect(await begin(0, aBlock(2), aBlock(3))).toEqual([]);
    expect(await recent()).toEqual([1]);
    expect(await blocks.orphaned(DEV_CHAIN, 100)).toEqual([]);
    expect(await begin(0, aBlock(2, 1, 0))).toEqual([2, 3]);
    expect(await begin(2)).toEqual([3]);
    await blocks.begin(7, [aBlock(4)], 0);
    await advance(aBlock(2, 1, 0));
    expect(await recent()).toEqual([1, 0x1002]);
    expect(await begin(0)).toEqual([2, 3]);
  });

  it('that are canonical stay so when another node begins them; that are orphaned are begun again', async () => {
    await advance(aBlock(1), aBlock(2));
    await blocks.advance(DEV_CHAIN, [aHash(2)], [aBlock(2, 1, 0)]);
    await begin(0, aBlock(1), aBlock(2));
    expect([await recent(), await blocks.orphaned(DEV_CHAIN, 100), await begin(0)]).toEqual([[1, 0x1002], [], [2]]);
    await advance(aBlock(2));
    expect([await recent(), await begin(0)]).toEqual([[1, 2], []]);
  });

  it('that are begun far above the others do not hide orphaned ones', async () => {
    await advance(aBlock(1), aBlock(2));
    await blocks.advance(DEV_CHAIN, [aHash(2)], []);
    await begin(0, aBlock(1000));
    expect(await blocks.orphaned(DEV_CHAIN, 5)).toHaveLength(1);
  });

  it('are begun while no other node writes blocks of the chain: each would wait for rows of the other', async () => {
    const begun = await database.transaction(async (tx) => {
      await tx.query({ name: 'test_lock', text: 'SELECT pg_advisory_xact_lock(7250316, $1)' }, [DEV_CHAIN]);
      const begins = begin(0, aBlock(1));
      await stored.lab.until(async () => (await stored.lab.waiting()) === 1);
      return { begins };
    });
    expect(await begun.begins).toEqual([]);
    expect(await begin(0)).toEqual([1]);
  });

  it('that are orphaned and not replaced stay so', async () => {
    await advance(aBlock(1), aBlock(2));
    await blocks.advance(DEV_CHAIN, [aHash(2)], []);
    expect(await recent()).toEqual([1]);
  });

  it('that are orphaned are told down to a depth below the newest of their chain', async () => {
    await advance(aBlock(1), aBlock(2), aBlock(3), aBlock(9));
    await blocks.advance(7, [], [aBlock(100), aBlock(9)]);
    await blocks.advance(7, [aHash(9)], []);
    await blocks.advance(DEV_CHAIN, [aHash(1), aHash(2), aHash(3)], []);
    const numbers = (await blocks.orphaned(DEV_CHAIN, 8)).map(({ number }) => number);
    expect(numbers.sort()).toEqual([2, 3]);
  });

  it('are forgotten below a number, on their chain only', async () => {
    for (const chain of [DEV_CHAIN, 7]) await blocks.advance(chain, [], [aBlock(1), aBlock(2), aBlock(3)]);
    await blocks.forgetBelow(DEV_CHAIN, 2);
    expect(await recent()).toEqual([2, 3]);
    expect(await blocks.recent(7, 10)).toHaveLength(3);
  });

  it('are written by one node after the other, and those of another chain meanwhile', async () => {
    const session = await stored.lab.session();
    await session.run('BEGIN');
    await session.run(`SELECT pg_advisory_xact_lock(7250316, ${DEV_CHAIN})`);
    const waiting = advance(aBlock(1));
    await stored.lab.heldOffBy(session.pid, waiting);
    await blocks.advance(7, [], [aBlock(1)]);
    await session.run('ROLLBACK');
    await waiting;
    expect(await recent()).toEqual([1]);
  });
});

describe('the work on chains', () => {
  const activity = new PgChainActivity(database);

  it('is told with its age, as it was before it is noted', async () => {
    await stored.put('chain_activity', { chain_id: DEV_CHAIN, last_work_at: `now() - interval '1 minute'` });
    await stored.put('chain_activity', { chain_id: 7, last_work_at: `now() - interval '10 minutes'` });
    const ages = await activity.note([DEV_CHAIN]);
    expect(Math.round((ages.get(DEV_CHAIN) ?? 0) / 10_000)).toBe(6);
    const later = await activity.note([]);
    expect(later.get(DEV_CHAIN)).toBeLessThan(30_000);
    expect(Math.round((later.get(7) ?? 0) / 10_000)).toBe(60);
  });

  it('is noted in the order of the chains, so that two nodes never deadlock', async () => {
    await activity.note([9, 7, 8]);
    // Rows lie in the order in which they were written.
    expect(await stored.read('SELECT chain_id FROM chain_activity ORDER BY ctid')).toEqual(
      [7, 8, 9].map((chain) => ({ chain_id: `${chain}` })),
    );
  });
});

describe('the directory of signers', () => {
  const directory = new PgSignerDirectory(database);
  const register = (signers: readonly object[], self = 'me') => directory.register(signers as never, self, 60_000);
  const custody = async (): Promise<unknown> =>
    stored.read('SELECT address, custody FROM signer ORDER BY chain_id, address');
  const OURS = aSigner(1);
  const OTHER = aSigner(2);

  it('has each with where its key is, and learns when that changes', async () => {
    await register([
      { signer: OTHER, reference: { type: 'mnemonic', index: 2 } },
      { signer: OURS, reference: { type: 'mnemonic', index: 1 } },
    ]);
    await register([{ signer: OURS, reference: { type: 'key', file: 'a' } }]);
    expect(await custody()).toEqual([
      { address: OURS.address, custody: { type: 'key', file: 'a' } },
      { address: OTHER.address, custody: { type: 'mnemonic', index: 2 } },
    ]);
  });

  it('writes signers in the order of their keys, so that two nodes never deadlock', async () => {
    const reference = { type: 'mnemonic', index: 1 };
    await register([OTHER, OURS].map((signer) => ({ signer, reference })));
    expect(await stored.read('SELECT address FROM signer ORDER BY ctid')).toEqual([
      { address: OURS.address },
      { address: OTHER.address },
    ]);
  });

  it('refuses a key of a key service that has another address than before, and writes nothing; other keys may share a path', async () => {
    const at = (signer: typeof OURS, reference: object): object[] => [
      { signer, reference: { type: 'awsKms', ...reference } },
    ];
    await register(at(OURS, { keyId: 'alias/a' }));
    await register(at(OURS, { keyId: 'alias/a' }));
    await expect(register(at(OTHER, { keyId: 'alias/a' }))).rejects.toThrow(
      `the key alias/a had the address ${OURS.address} on chain ${OURS.chainId}, and has ${OTHER.address} now`,
    );
    expect(await custody()).toEqual([{ address: OURS.address, custody: { type: 'awsKms', keyId: 'alias/a' } }]);
    await register(at({ ...OTHER, chainId: OURS.chainId + 1 }, { keyId: 'alias/a' }));
    await register(at(OTHER, { keyId: 'alias/b' }));
    await register(at(aSigner(3), { path: 'm/0' }));
    await register(at(aSigner(4), { path: 'm/0' }));
    expect(await custody()).toHaveLength(5);
  });

  it('refuses a signer that is external here and not at a node that runs, or the other way round, and writes nothing', async () => {
    const [external, key] = ['external', 'key'].map((type) => [{ signer: OURS, reference: { type } }]);
    const onOther = { ...OURS, chainId: OURS.chainId + 1 };
    const announce = (nodeId: string, keys: readonly string[], ago = '1 second') =>
      stored.lab.observer.run(
        `WITH k AS (INSERT INTO node_key_set (key_set, signers) VALUES ($1, $2))
         INSERT INTO node (node_id, acts, serves, key_set, last_seen_at) VALUES ($1, true, true, $1, clock_timestamp() - $3::interval)`,
        [nodeId, keys, ago],
      );
    await register(key ?? []);
    await announce('me', [signerKey(OURS)]);
    await announce('gone', [signerKey(OURS)], '2 minutes');
    await announce('of another', [signerKey(OTHER)]);
    await register(external ?? []);
    await announce('other', [OURS, onOther].map(signerKey));
    await register(external ?? []);
    await register([{ signer: onOther, reference: { type: 'key' } }]);
    const refusal = `the custody of ${OURS.address} on chain ${OURS.chainId} is external at a node that runs, and external at one of the two only`;
    await expect(register(key ?? [])).rejects.toThrow(refusal);
    expect(await custody()).toEqual(['external', 'key'].map((type) => ({ address: OURS.address, custody: { type } })));
    await expect(register(key ?? [], 'other')).rejects.toThrow(refusal);
  });

  it('refuses one of two that have announced themselves, and start at once with another custody', async () => {
    const [external, key] = ['external', 'key'].map((type) => [{ signer: OURS, reference: { type } }]);
    for (const node of ['one', 'two'])
      await stored.lab.observer.run(
        `WITH k AS (INSERT INTO node_key_set (key_set, signers) VALUES ('both', $2) ON CONFLICT DO NOTHING)
         INSERT INTO node (node_id, acts, serves, key_set) VALUES ($1, true, true, 'both')`,
        [node, [signerKey(OURS)]],
      );
    for (let round = 0; round < 10; round += 1) {
      const outcomes = await Promise.allSettled([register(external ?? [], 'one'), register(key ?? [], 'two')]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      await stored.lab.observer.run('DELETE FROM signer', []);
    }
  });

  it('writes nothing where nothing has changed', async () => {
    const known = [{ signer: OURS, reference: { type: 'mnemonic', index: 1 } }];
    await register(known);
    const before = await stored.read('SELECT xmin::text FROM signer');
    await register(known);
    expect(await stored.read('SELECT xmin::text FROM signer')).toEqual(before);
  });
});
