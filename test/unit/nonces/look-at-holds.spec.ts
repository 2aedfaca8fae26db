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

  it('is not proven when one endpoint is silent, which counts once it is overdue and nothing was seen', async () => {
    agreed = null;
    const overdue = async () => (await look.execute(DEV_CHAIN, [hold(true, 7n, true)])).map(({ kind }) => kind);
    expect([await kinds(true), await overdue()]).toEqual([[], ['unproven']]);
    counts = { latest: 7n, pending: 8n };
    expect(await overdue()).toEqual([]);
    pool.transactions = [SENT];
    expect(await overdue()).toEqual(['sent']);
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
