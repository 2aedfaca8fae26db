import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE, DEFAULT_ACCOUNT } from '../../src/kernel/caller.js';
import { parseHash } from '../../src/kernel/hex.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { NO_PAYLOAD } from '../../src/modules/ledger/domain/tx-request.js';
import { SubmitCommand } from '../../src/modules/commands/application/submit-command.js';
import { PauseSigner } from '../../src/modules/ops/application/pause-signer.js';
import { ResumeSigner } from '../../src/modules/ops/application/resume-signer.js';
import { ExplainTx } from '../../src/modules/ops/application/explain-tx.js';
import { AuthorizationStore, InFlightLimits } from '../../src/modules/ledger/index.js';
import { SignerPauses } from '../../src/modules/signers/index.js';
import { Database } from '../../src/platform/database/database.js';
import { startAnvil } from '../support/anvil.js';
import { aHash, anAddress, anOrder, aPauseOrder, DEV_CHAIN } from '../support/builders.js';
import { knowNonce } from '../support/known-nonce.js';
import { makeWaitingDue } from '../support/node-lab.js';
import { onProxiedNode, type ProxiedStage } from '../support/on-proxied-node.js';
import { until } from '../support/until.js';
import type { TestNode } from '../support/test-node.js';

const CODE = anAddress(0xc0de);

let stage: ProxiedStage;
let lab: ProxiedStage['lab'];
let node: TestNode;
/** Of a payload that needs the authorization of another signer. */
let sender: SignerId;
let authority: SignerId;
let tag: number;

onProxiedNode(
  () => startAnvil({ extraArgs: ['--no-mining', '--hardfork', 'prague'] }),
  (given) => (stage = given),
);

beforeEach(async () => {
  ({ lab, tag } = stage);
  ({ node } = lab);
  [sender, authority] = [node.signer(0), node.signer(1)];
  for (const signer of [authority, node.signer(2)]) await knowNonce(node, stage.chain.url, signer);
  await node.step(sender, authority, node.signer(2));
});

/** A payload of one signer with authorizations of others. */
async function delegating(signer: SignerId, ...authorities: readonly SignerId[]): Promise<string> {
  const { payload } = lab.request(tag);
  const authorizationList = authorities.map(({ address }) => ({
    chainId: BigInt(DEV_CHAIN),
    address: CODE,
    authority: address,
  }));
  return lab.create(tag++, { signer, payload: { ...payload, authorizationList } });
}

const plain = (signer: SignerId): Promise<string> => lab.create(tag++, { signer });

/** All that waits is due, and both lanes and the authorizations have a turn. */
async function turn(by: readonly TestNode[] = [node]): Promise<void> {
  for (const one of by) {
    await one.authorizations();
    await makeWaitingDue(one);
    await one.step(sender, authority, node.signer(2));
  }
}

async function confirm(by: readonly TestNode[] = [node]): Promise<void> {
  await lab.mine(4);
  for (const one of by) await one.follow();
  await lab.mine();
  for (const one of by) await one.follow();
}

async function run(text: string, values: readonly string[] = []): Promise<Record<string, unknown>[]> {
  const { rows } = await node
    .get(Database)
    .query<Record<string, unknown>>({ name: `test_${text.replace(/\W+/g, '_').slice(0, 55)}`, text }, [...values]);
  return rows;
}

const open = () => run('SELECT authority, nonce FROM tx_authorization ORDER BY created_at');
const slots = () =>
  run('SELECT nonce, status FROM signer_nonce_allocation WHERE signer = $1 ORDER BY nonce', [authority.address]);
const codeOf = ({ address }: SignerId) => lab.ask('eth_getCode', address, 'latest');
const chainNonce = async ({ address }: SignerId) =>
  Number(BigInt(String(await lab.ask('eth_getTransactionCount', address, 'latest'))));
const codeNow = `0xef0100${CODE.slice(2)}`;

async function undelegated(): Promise<void> {
  for (const signer of [authority, node.signer(2)])
    if ((await codeOf(signer)) !== '0x') await lab.ask('anvil_setCode', signer.address, '0x');
}

beforeEach(undelegated);

it('of a signer whose next nonce an outside sender gave back waits for a no-op, and for nothing else', async () => {
  const hold = await lab.create(tag++, {
    signer: authority,
    hold: { ttl: null, count: 1, index: 0 },
    payload: NO_PAYLOAD,
  });
  await node.step(authority);
  await node.get(SubmitCommand).execute(anOrder('release', hold));
  await node.commands();
  const txId = await delegating(sender, authority);
  await until('it is final', async () => {
    await turn();
    await confirm();
    return (await lab.states([txId]))[0] === 'CONFIRMED';
  });
  expect(await codeOf(authority)).toBe(codeNow);
});

describe('an authorization of another signer', () => {
  it.each(['before its signer looks', 'while its signer signs'])(
    'is not signed for a stopped account, which was stopped %s, and holds no payload of its signer back',
    async (when) => {
      const scope = { chainId: null, address: null, account: { id: DEFAULT_ACCOUNT, name: 'default' } };
      const stop = () => node.get(PauseSigner).execute(scope, aPauseOrder());
      const account = '019aa2f4-7a1c-7c3e-9a52-000000000001';
      const txId = await delegating(sender, authority);
      await node.step(sender);
      const store = node.get(AuthorizationStore);
      const grant = store.grant.bind(store);
      store.grant = async (fence, ...more) => {
        const pauses = node.get(SignerPauses);
        if (when !== 'before its signer looks') await pauses.pause(fence.tx, scope, aPauseOrder());
        return grant(fence, ...more);
      };
      if (when === 'before its signer looks') await stop();
      await node.authorizations();
      store.grant = grant;
      if (when !== 'before its signer looks') await stop();
      const next = await lab.create(tag++, { signer: authority, sender: { ...ANYONE, account } });
      await turn();
      // Its authority was held back for what was to be signed.
      node.laneClock.advance(10_000);
      await turn();
      expect(await open()).toMatchObject([{ authority: authority.address, nonce: null }]);
      expect(await run('SELECT state FROM managed_tx WHERE tx_id = ANY($1::uuid[])', [[next] as never])).toEqual([
        { state: 'IN_MEMPOOL' },
      ]);
      expect(await node.tx(txId)).toMatchObject({ state: 'PENDING', subState: 'ACCOUNT_STOPPED' });
      await confirm();
      await node.get(ResumeSigner).execute(scope, aPauseOrder());
      await turn();
      await turn();
      expect(await node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL' });
      await confirm();
    },
  );

  it('is signed with the next nonce of that signer, whose payloads go on after it', async () => {
    const nonce = await chainNonce(authority);
    const txId = await delegating(sender, authority);
    await node.step(sender);
    expect(await node.tx(txId)).toMatchObject({
      state: 'PENDING',
      lastError: `waits until ${authority.address} has nothing in flight and has signed its authorization`,
      payload: { authorizationList: [{ signer: authority.address, address: CODE }] },
    });
    expect((await node.get(ExplainTx).execute(txId, ANYONE))?.explanation.summary).toBe(
      `The transaction waits for a nonce: ${authority.address} must sign an authorization for it, with nothing else in flight.`,
    );
    await turn();
    expect(await node.tx(txId)).toMatchObject({
      state: 'IN_MEMPOOL',
      payload: { authorizationList: [{ signer: authority.address, nonce: String(nonce) }] },
    });
    const next = await plain(authority);
    await turn();
    expect(await lab.states([next])).toEqual(['PENDING']);
    await confirm();
    expect(await codeOf(authority)).toBe(codeNow);
    await turn();
    await confirm();
    expect(await node.tx(next)).toMatchObject({ state: 'CONFIRMED', nonce: nonce + 1 });
    expect([await open(), await slots()]).toEqual([[], [{ nonce: String(nonce + 1), status: 'CONSUMED' }]]);
    expect(node.get(InFlightLimits).isDelegated(authority)).toBe(true);
  });

  it('works when another node owns that signer', async () => {
    await node.releaseLeases();
    const [first, second] = [await lab.startNode(), await lab.startNode()];
    await first.step(sender);
    await second.step(authority);
    const txId = await delegating(sender, authority);
    await first.step(sender);
    await first.authorizations();
    expect(await open()).toMatchObject([{ nonce: null }]);
    await second.authorizations();
    await makeWaitingDue(first);
    await first.step(sender);
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    await confirm([first, second]);
    expect(await codeOf(authority)).toBe(codeNow);
    await second.authorizations();
    const next = await plain(authority);
    await second.step(authority);
    await confirm([first, second]);
    expect([await open(), await lab.states([txId, next])]).toEqual([[], ['CONFIRMED', 'CONFIRMED']]);
  });

  it('waits until nothing of that signer is in flight, and meanwhile nothing else of it gets a nonce', async () => {
    const before = await plain(authority);
    await node.step(authority);
    const txId = await delegating(sender, authority);
    const later = await plain(authority);
    await node.step(sender);
    await turn();
    expect(await lab.states([before, txId, later])).toEqual(['IN_MEMPOOL', 'PENDING', 'PENDING']);
    await confirm();
    await turn();
    expect(await lab.states([before, txId, later])).toEqual(['CONFIRMED', 'IN_MEMPOOL', 'PENDING']);
    await confirm();
    await turn();
    await confirm();
    expect(await lab.states([txId, later])).toEqual(['CONFIRMED', 'CONFIRMED']);
    expect(await codeOf(authority)).toBe(codeNow);
  });

  it('of a payload that reverts is used, too', async () => {
    const nonce = await chainNonce(authority);
    const REVERT = '0x60006000fd';
    const target = anAddress(0xdead);
    await lab.ask('anvil_setCode', target, REVERT);
    const { payload } = lab.request(tag);
    const authorizationList = [{ chainId: 0n, address: CODE, authority: authority.address }];
    const txId = await lab.create(tag++, {
      payload: { ...payload, to: target, gasLimit: 200_000n, authorizationList },
    });
    await node.step();
    await turn();
    await confirm();
    await turn();
    expect(await node.tx(txId)).toMatchObject({ state: 'FAILED', receipt: { status: 'reverted' } });
    expect([await open(), await chainNonce(authority), await codeOf(authority)]).toEqual([[], nonce + 1, codeNow]);
  });

  it('can be given by two signers at once', async () => {
    const txId = await delegating(sender, node.signer(2), authority);
    for (let n = 0; n < 3; n += 1) await turn();
    await confirm();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect([await codeOf(authority), await codeOf(node.signer(2))]).toEqual([codeNow, codeNow]);
  });

  it('is not accepted of an account that is no signer', async () => {
    const stranger = { chainId: DEV_CHAIN, address: anAddress(0x5723) };
    await expect(delegating(sender, stranger)).rejects.toMatchObject({ code: 'unknown_authority' });
    expect(await open()).toEqual([]);
  });
});

describe('two payloads that need authorizations of the signers of each other', () => {
  it('are both mined', async () => {
    const ids = [await delegating(sender, authority), await delegating(authority, sender)];
    await node.step(sender, authority);
    for (let n = 0; n < 4; n += 1) {
      await turn();
      await confirm();
      node.laneClock.advance(10_000);
    }
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'CONFIRMED']);
    expect([await codeOf(authority), await codeOf(sender)]).toEqual([codeNow, codeNow]);
    await lab.ask('anvil_setCode', sender.address, '0x');
  });
});

it('two signers that have signed for each other at the same moment do not wait for ever', async () => {
  await node.releaseLeases();
  const [first, second] = [await lab.startNode(), await lab.startNode()];
  await first.step(authority);
  await second.step(sender);
  const ids = [await delegating(sender, authority), await delegating(authority, sender)];
  await first.step(authority);
  await second.step(sender);
  await first.authorizations();
  // What the second one reads before the first one commits.
  await run(`UPDATE managed_tx SET state = 'CANCELLED' WHERE tx_id = $1`, ids.slice(0, 1));
  await second.authorizations();
  await run(`UPDATE managed_tx SET state = 'PENDING' WHERE tx_id = $1`, ids.slice(0, 1));
  expect((await open()).map(({ nonce }) => nonce === null)).toEqual([false, false]);
  await turn([first, second]);
  expect(await lab.states(ids)).toEqual(['PENDING', 'PENDING']);
  await run(`UPDATE tx_authorization SET granted_at = granted_at - interval '31 seconds'`);
  await until('both are mined', async () => {
    await run(`UPDATE tx_authorization SET due_at = clock_timestamp() WHERE nonce IS NULL`);
    await turn([first, second]);
    await confirm([first, second]);
    return (await lab.states(ids)).every((state) => state === 'CONFIRMED');
  });
  expect([await codeOf(authority), await codeOf(sender)]).toEqual([codeNow, codeNow]);
  await lab.ask('anvil_setCode', sender.address, '0x');
});

describe('a payload that ends otherwise frees the nonce of the authorization', () => {
  const cancel = (txId: string) =>
    node.get(SubmitCommand).execute({
      txId,
      kind: 'cancel',
      requestId: null,
      sender: ANYONE,
      requestHash: parseHash(aHash(tag)),
      fees: null,
      request: null,
    });

  /** The nonce is given to the next payload, and that one is mined. */
  async function expectFree(nonce: number): Promise<void> {
    await node.authorizations();
    expect(await open()).toEqual([]);
    const next = await plain(authority);
    await turn();
    await confirm();
    expect(await node.tx(next)).toMatchObject({ state: 'CONFIRMED', nonce });
    expect(await codeOf(authority)).toBe('0x');
  }

  it('cancelled before the signature', async () => {
    const nonce = await chainNonce(authority);
    const txId = await delegating(sender, authority);
    await cancel(txId);
    await expectFree(nonce);
  });

  it('cancelled after the signature, before it was sent', async () => {
    const nonce = await chainNonce(authority);
    const txId = await delegating(sender, authority);
    await node.step(sender);
    await node.authorizations();
    expect(await slots()).toEqual([{ nonce: String(nonce), status: 'HELD' }]);
    await cancel(txId);
    await expectFree(nonce);
  });

  it('cancelled in flight', async () => {
    const nonce = await chainNonce(authority);
    const txId = await delegating(sender, authority);
    await node.step();
    await turn();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    await cancel(txId);
    await node.commands();
    await lab.resubmit();
    await confirm();
    expect(await lab.states([txId])).toEqual(['CANCELLED']);
    await expectFree(nonce);
  });

  it('given back when it waits for too long, and signed again later', async () => {
    const nonce = await chainNonce(authority);
    const txId = await delegating(sender, authority);
    await node.step(sender);
    await node.authorizations();
    await run(`UPDATE tx_authorization SET granted_at = granted_at - interval '31 seconds'`);
    await node.authorizations();
    expect(await slots()).toEqual([{ nonce: String(nonce), status: 'RELEASED' }]);
    expect((await node.tx(txId)).payload.authorizationList).toEqual([
      { chainId: String(DEV_CHAIN), address: CODE, signer: authority.address },
    ]);
    await turn();
    expect(await lab.states([txId])).toEqual(['PENDING']);
    const between = await plain(authority);
    await turn();
    await confirm();
    expect(await node.tx(between)).toMatchObject({ state: 'CONFIRMED', nonce });
    await run(`UPDATE tx_authorization SET due_at = clock_timestamp()`);
    await until('it is signed again', async () => {
      await turn();
      return (await node.tx(txId)).state === 'IN_MEMPOOL';
    });
    await confirm();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(await codeOf(authority)).toBe(codeNow);
  });
});

describe('a payload in flight that is not mined', () => {
  const signedBefore = (minutes: number) =>
    run(`UPDATE tx_authorization SET granted_at = granted_at - interval '${minutes} minutes'`);

  async function outWithAuthorization(): Promise<{ txId: string; nonce: number }> {
    const nonce = await chainNonce(authority);
    const txId = await delegating(sender, authority);
    await node.step(sender);
    await turn();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    return { txId, nonce };
  }

  it('waits as long as it wants while nothing else of its authority waits', async () => {
    const { txId } = await outWithAuthorization();
    await signedBefore(60);
    await turn();
    await node.commands();
    expect(await node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: null, expiresAt: null });
    await confirm();
    expect([await lab.states([txId]), await codeOf(authority)]).toEqual([['CONFIRMED'], codeNow]);
  });

  it.each(['acts', 'is paused'])('expires after ten minutes for what waits, while its signer %s', async (how) => {
    const { txId, nonce } = await outWithAuthorization();
    const next = await plain(authority);
    await turn();
    const scope = { ...sender, account: null };
    if (how === 'is paused') await node.get(PauseSigner).execute(scope, aPauseOrder());
    await signedBefore(11);
    await turn();
    await node.commands();
    expect(await node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'CANCELLING' });
    await lab.resubmit();
    await confirm();
    expect(await lab.states([txId, next])).toEqual(['CANCELLED', 'PENDING']);
    await turn();
    await confirm();
    expect(await node.tx(next)).toMatchObject({ state: 'CONFIRMED', nonce });
    expect([await codeOf(authority), await open()]).toEqual(['0x', []]);
    if (how === 'is paused') await node.get(ResumeSigner).execute(scope, aPauseOrder());
  });

  it('keeps the nonce of its authority until it has ended, however long its no-op takes', async () => {
    const { txId, nonce } = await outWithAuthorization();
    await signedBefore(60);
    const next = await plain(authority);
    for (let look = 0; look < 2; look += 1) await turn();
    await run(`UPDATE managed_tx SET expires_at = expires_at - interval '1 day' WHERE tx_id = $1`, [txId]);
    for (let look = 0; look < 2; look += 1) await turn();
    expect(await lab.states([txId, next])).toEqual(['IN_MEMPOOL', 'PENDING']);
    expect(await slots()).toEqual([{ nonce: String(nonce), status: 'HELD' }]);
    // No no-op was sent: it is mined after all, with its authorization.
    await confirm();
    expect([await lab.states([txId]), await codeOf(authority)]).toEqual([['CONFIRMED'], codeNow]);
    await until('its authority goes on', async () => {
      await turn();
      await confirm();
      return (await node.tx(next)).state === 'CONFIRMED';
    });
    expect((await node.tx(next)).nonce).toBe(nonce + 1);
  });
});

it('a node that dies after the signature leaves all that the next one needs', async () => {
  const txId = await delegating(sender, authority);
  await node.step(sender);
  await node.authorizations();
  await node.releaseLeases();
  const next = await lab.startNode();
  await next.step(sender, authority);
  const after = await plain(authority);
  await next.step(authority);
  expect(await lab.states([txId, after])).toEqual(['IN_MEMPOOL', 'PENDING']);
  await confirm([next]);
  await next.authorizations();
  await makeWaitingDue(next);
  await next.step(authority);
  await confirm([next]);
  expect([await open(), await lab.states([txId, after])]).toEqual([[], ['CONFIRMED', 'CONFIRMED']]);
  expect(await codeOf(authority)).toBe(codeNow);
});
