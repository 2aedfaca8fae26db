import { afterEach, expect, it } from '@jest/globals';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { ANYONE, DEFAULT_ACCOUNT, NO_LIMITS } from '../../src/kernel/caller.js';
import { CreateKey } from '../../src/modules/access/application/create-key.js';
import { Identify } from '../../src/modules/access/application/identify.js';
import { KeyRing } from '../../src/modules/access/application/key-ring.js';
import { ChangePolicy } from '../../src/modules/ops/application/change-policy.js';
import { toPolicy } from '../../src/modules/policies/index.js';
import { CreationLimits } from '../../src/modules/requests/application/creation-limits.js';
import { RequestLimits } from '../../src/platform/limits/request-limits.js';
import { aRequest } from '../support/builders.js';
import { ModelChain } from '../support/model-chain.js';
import { tagged } from '../support/send-faults.js';
import { StatementCounter } from '../support/statement-counter.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TestNode } from '../support/test-node.js';

const TXS = 10;
const ETHER = String(10n ** 18n);

const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

interface Doors {
  readonly config: Record<string, unknown>;
  readonly policy?: Record<string, string>;
  /** Set by the API. */
  readonly stored?: Record<string, string>;
}

/** Statements of the life of ten txs, each by itself, from its request to its final block. Nothing runs beside it: no scheduler is started. */
async function statementsWith({ config, policy, stored }: Doors): Promise<number> {
  const counter = new StatementCounter();
  const database: TestDatabase = await createTestDatabase();
  ended.push(() => database.drop());
  const proxy = await TcpProxy.listen(database.url, counter.tap);
  ended.push(() => proxy.stop());
  const chain = new ModelChain();
  const signers = [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: 2, ...(policy && { policy }) }];
  const node = await TestNode.start(proxy.url, chain, { lease: { duration: '10m' }, signers, ...config });
  ended.push(() => node.close());
  const signer = node.signer();
  if (stored) await node.get(ChangePolicy).execute({ signer, policy: toPolicy(stored), version: 0, by: ANYONE });
  const grant = { name: 'a', account: DEFAULT_ACCOUNT, scopes: ANYONE.scopes, only: NO_LIMITS, expiresAt: null };
  const { text } = await node.get(CreateKey).execute(grant, ANYONE);
  await node.get(KeyRing).refresh();
  const reply = { header: () => reply, raw: { destroyed: false } };
  const live = async (tag: number): Promise<void> => {
    const { caller } = await node.get(Identify).execute(text);
    const base = aRequest({ signer, requestId: `request-${tag}` });
    const request = { ...base, sender: caller, payload: { ...base.payload, value: 1n, data: tagged(tag) } };
    node.get(RequestLimits).admit(caller.account, { requests: 1, bytes: 300, isLong: false }, reply as never);
    await node.get(CreationLimits).admit(request, async () => false);
    const { txId } = await node.create(request);
    await node.step();
    chain.mine();
    await node.follow();
    chain.mineEmpty(2);
    await node.follow();
    expect((await node.tx(txId)).state).toBe('CONFIRMED');
  };
  // What the first one costs besides: its lease, and what is read once.
  await live(0);
  const before = counter.count;
  for (let tag = 1; tag <= TXS; tag += 1) await live(tag);
  return counter.count - before;
}

it('keys, limits of accounts and policies cost a transaction no statement; daily amounts do', async () => {
  const without = await statementsWith({ config: { auth: { mode: 'none' } } });
  const config = {
    auth: { mode: 'apiKeys' },
    limits: { account: { requestsPerSecond: 1_000, bytesPerSecond: 1_000_000, waitingTxs: 1_000 } },
  };
  const rules = { maxValue: ETHER, maxFee: ETHER };
  expect(without).toBeGreaterThan(TXS * 5);
  expect({
    keysAndLimits: await statementsWith({ config }),
    policy: await statementsWith({ config, policy: rules }),
    policies: await statementsWith({ config, policy: rules, stored: rules }),
  }).toEqual({ keysAndLimits: without, policy: without, policies: without });
  // The count is real.
  expect(await statementsWith({ config, policy: { dailyValue: ETHER } })).toBeGreaterThan(without);
});
