import { beforeEach, describe, expect, it } from '@jest/globals';
import { SecondObservations } from '../../../src/modules/chain/index.js';
import { LookAtHolds } from '../../../src/modules/nonces/application/look-at-holds.js';
import { aHash, aManagedTx, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { aSentTransaction } from '../../support/sent-builders.js';

const SIGNER = aSigner();
const BLOCK = { number: 5, hash: aHash(5) };
const SENT = aSentTransaction({ account: SIGNER.address, nonce: 7n, hash: aHash(7) });

let chain: ModelChain;
let counts: { latest: bigint; pending: bigint };
let pool: { transactions: (typeof SENT)[]; hiddenBelow: bigint };
let use: Awaited<ReturnType<ModelChain['nonceUses']>>[number];
/** The count that every endpoint tells, and the block of their answers; null when one does not. */
let agreed: { nonce: bigint; block: typeof BLOCK } | null;
let look: LookAtHolds;

beforeEach(() => {
  chain = new ModelChain();
  [counts, pool, use] = [{ latest: 7n, pending: 7n }, { transactions: [], hiddenBelow: 0n }, { kind: 'open' }];
  agreed = { nonce: 7n, block: BLOCK };
  chain.accountCounts = async () => [counts];
  chain.pooledOf = async () => [{ ...pool, shown: true }];
  chain.nonceUses = async (asked) => asked.map(() => use);
  chain.equalCounts = async (accounts) => accounts.map(() => agreed);
  look = new LookAtHolds(new ModelChains(chain), new SecondObservations(new FakeClock()));
});

const hold = (isOver: boolean, nonce = 7n, isOverdue = false) => ({
  tx: aManagedTx({ txId: 'hold', kind: 'hold', state: 'ALLOCATED', signer: SIGNER, nonce }).build(),
  isOver,
  isOverdue,
});

async function kinds(isOver = false, nonce = 7n): Promise<string[]> {
  return (await look.execute(DEV_CHAIN, [hold(isOver, nonce)])).map(({ kind }) => kind);
}

describe('a look at a hold', () => {
  it('asks nothing but counts while nothing can be out with its nonce', async () => {
    chain.pooledOf = () => Promise.reject(new Error('not asked'));
    chain.nonceUses = () => Promise.reject(new Error('not asked'));
    expect(await kinds()).toEqual([]);
    expect(await look.execute(DEV_CHAIN, [])).toEqual([]);
  });

  it('finds what is in a pool, and what is in a block before that', async () => {
    counts = { latest: 7n, pending: 8n };
    pool.transactions = [SENT, { ...SENT, nonce: 8n }];
    expect(await look.execute(DEV_CHAIN, [hold(false)])).toMatchObject([{ kind: 'sent', sent: [SENT] }]);
    const mined = { ...SENT, hash: aHash(8) };
    use = { kind: 'passed', head: BLOCK, user: { txHash: mined.hash, block: BLOCK, sent: mined } };
    expect(await look.execute(DEV_CHAIN, [hold(false)])).toMatchObject([{ kind: 'sent', sent: [mined] }]);
  });

  it('finds that it is used although nobody names by what, when two looks at different blocks agree', async () => {
    const next = { number: 6, hash: aHash(6) };
    for (const user of [null, { txHash: aHash(1), block: BLOCK, sent: null }]) {
      counts = { latest: 8n, pending: 8n };
      use = { kind: 'passed', head: BLOCK, user };
      expect([await kinds(), await kinds()]).toEqual([[], []]);
      use = { kind: 'passed', head: next, user };
      expect(await kinds()).toEqual(['used']);
      look = new LookAtHolds(new ModelChains(chain), new SecondObservations(new FakeClock()));
    }
    use = { kind: 'open' };
    expect(await kinds()).toEqual([]);
  });

  it('begins anew when it was not used between two looks', async () => {
    const looked = async (latest: bigint, number: number) => {
      counts = { latest, pending: latest };
      use = { kind: 'passed', head: { number, hash: aHash(number) }, user: null };
      return kinds(true);
    };
    expect([await looked(8n, 5), await looked(7n, 6), await looked(8n, 7)]).toEqual([[], [], []]);
    expect(await looked(8n, 8)).toEqual(['used']);
  });

  const later = (): void => void (agreed = { nonce: 7n, block: { number: 6, hash: aHash(6) } });

  it('calls one that is over unused when two looks at different blocks agree', async () => {
    expect([await kinds(true), await kinds(true)]).toEqual([[], []]);
    later();
    expect(await kinds(true)).toEqual(['unused']);
  });

  it('begins anew when something was there between the two', async () => {
    await kinds(true);
    pool.hiddenBelow = 8n;
    expect(await kinds(true)).toEqual([]);
    pool.hiddenBelow = 0n;
    later();
    expect(await kinds(true)).toEqual([]);
  });

  it('begins anew when it was extended between the two', async () => {
    await kinds(true);
    later();
    counts = { latest: 7n, pending: 7n };
    await kinds(false);
    expect(await kinds(true)).toEqual([]);
  });

  it('begins anew when another node extended it', async () => {
    await kinds(true);
    later();
    const extended = hold(true);
    extended.tx = aManagedTx({ ...extended.tx.progress, version: 1 }).build();
    expect(await look.execute(DEV_CHAIN, [extended])).toEqual([]);
  });

  it('begins anew when one endpoint was silent, or told another count, between the two', async () => {
    const other = { nonce: 8n, block: { number: 6, hash: aHash(6) } };
    for (const between of [null, other]) {
      agreed = { nonce: 7n, block: BLOCK };
      await kinds(true);
      agreed = between;
      await kinds(true);
      later();
      expect(await kinds(true)).toEqual([]);
      look = new LookAtHolds(new ModelChains(chain), new SecondObservations(new FakeClock()));
    }
  });

  describe('that is overdue', () => {
    /** What half of the endpoints say. */
    let said: typeof agreed;
    const overdue = async () => (await look.execute(DEV_CHAIN, [hold(true, 7n, true)])).map(({ kind }) => kind);

    beforeEach(() => {
      [said, agreed] = [agreed, null];
      chain.agreedCounts = async (accounts, tag) => accounts.map(() => (tag === 'pending' ? said : null));
    });
    const saidLater = (): void => void (said = { nonce: 7n, block: { number: 6, hash: aHash(6) } });

    it('is not proven when an endpoint is silent, by two looks at different blocks', async () => {
      expect([await overdue(), await overdue()]).toEqual([[], []]);
      saidLater();
      expect([await kinds(true), await overdue()]).toEqual([[], ['unproven']]);
    });

    it('is so, too, when one endpoint stands still, or tells of a pool that it does not show', async () => {
      counts = { latest: 4n, pending: 8n };
      pool.hiddenBelow = 8n;
      await overdue();
      saidLater();
      expect(await overdue()).toEqual(['unproven']);
    });

    it('waits while half of the endpoints do not say that the chain waits for it, and ends by what is seen', async () => {
      const found: string[][] = [];
      for (const nonce of [6n, 8n, null]) {
        said = nonce === null ? null : { nonce, block: { number: 5 + found.length, hash: aHash(5) } };
        found.push(await overdue());
      }
      expect(found).toEqual([[], [], []]);
      pool.transactions = [SENT];
      expect(await overdue()).toEqual(['sent']);
    });

    it('is unused when every endpoint says so', async () => {
      agreed = said;
      await overdue();
      saidLater();
      agreed = said;
      expect(await overdue()).toEqual(['unused']);
    });
  });

  it('never calls one unused that the chain does not wait for, that a pool may hide, or about which one endpoint is silent', async () => {
    await kinds(true);
    later();
    const found: string[][] = [];
    counts = { latest: 6n, pending: 6n };
    found.push(await kinds(true));
    counts = { latest: 7n, pending: 8n };
    found.push(await kinds(true));
    counts = { latest: 7n, pending: 7n };
    agreed = null;
    found.push(await kinds(true));
    agreed = { nonce: 8n, block: { number: 9, hash: aHash(9) } };
    found.push(await kinds(true));
    expect(found).toEqual([[], [], [], []]);
  });
});
