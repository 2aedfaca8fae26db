import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { Geth } from '../support/geth.js';
import type { GenesisOptions } from '../support/geth-genesis.js';
import { GWEI } from '../support/geth-wire.js';
import { TransferLedger } from '../support/transfer-ledger.js';
import { until } from '../support/until.js';

const [ALICE, BOB] = DEV_ACCOUNTS;
const NOBODY = '0x00000000000000000000000000000000000000bb';
/** Init code of a contract that writes 1 into slot 0 of the account that runs it. */
const WRITER = '0x6460015f55005f526005601bf3';
const blobOf = (text: string) => `0x00${Buffer.from(text).toString('hex')}`;

let geth: Geth;
let cluster: Cluster;

/** For a describe. */
function withGeth(genesis: Partial<GenesisOptions>): void {
  beforeAll(async () => {
    geth = await Geth.start({ genesis });
    cluster = await Cluster.start({ nodes: 2, rpcUrl: geth.url });
  });

  afterAll(async () => {
    await cluster.stop();
    await geth.stop();
  });
}

async function create(signer: string, requestId: string, payload: object, fees?: object): Promise<string> {
  const { status, body } = await cluster.post('/api/v1/tx', { signer, requestId, payload, ...(fees && { fees }) });
  // 200 after a repeat: to prove a blob may take longer than the clients of a cluster wait.
  if (status >= 300) throw new Error(`${requestId} was refused: ${JSON.stringify(body)}`);
  return (body as { txId: string }).txId;
}

async function confirmed(txId: string): Promise<TxView> {
  const path = `/api/v1/tx/${txId}?waitFor=CONFIRMED&timeoutMs=60000`;
  const { body } = await cluster.node(0).service.get<TxView>(path);
  expect(body).toMatchObject({ state: 'CONFIRMED', receipt: { status: 'success' } });
  return body;
}

function onChain({ txHash }: TxView): Promise<unknown> {
  return geth.call('eth_getTransactionByHash', txHash);
}

describe('on geth', () => {
  withGeth({});

  it('transactions with one price, with and without an access list, are mined as such', async () => {
    const price = { gasPrice: (5n * GWEI).toString() };
    const accessList = [{ address: NOBODY, storageKeys: [] }];
    const plain = await create(ALICE, 'legacy', { to: NOBODY, value: '1' }, price);
    const listed = await create(ALICE, 'listed', { to: NOBODY, value: '1', accessList }, price);
    expect(await onChain(await confirmed(plain))).toMatchObject({ type: '0x0', gasPrice: '0x12a05f200' });
    expect(await onChain(await confirmed(listed))).toMatchObject({ type: '0x1', gasPrice: '0x12a05f200' });
  });

  it('a contract is where the answer said, an account delegates to it, and its next transactions are all mined', async () => {
    const creation = await create(ALICE, 'creation', { data: WRITER });
    await until('its nonce is known', async () => (await addressOf(creation)) !== null);
    const writer = await addressOf(creation);
    expect((await confirmed(creation)).receipt?.contractAddress).toBe(writer);

    const authorizationList = [{ address: writer, signer: BOB }];
    const ledger = new TransferLedger(cluster, BOB, 1);
    const delegation = await create(BOB, 'delegation', { to: BOB, gasLimit: '200000', authorizationList });
    expect(await onChain(await confirmed(delegation))).toMatchObject({ type: '0x4' });
    expect(await geth.call('eth_getCode', BOB, 'latest')).toBe(`0xef0100${String(writer).slice(2)}`);
    expect(await geth.call('eth_getStorageAt', BOB, '0x0', 'latest')).toBe(`0x${'1'.padStart(64, '0')}`);
    await ledger.create(8);
    // The authorization took a nonce of its own, beside that of its transaction.
    await ledger.expectEachPaidOnce({ firstNonce: 2 });
  });
});

(Geth.takesBlobProofs() ? describe : describe.skip)('on geth before Osaka, where geth is older than 1.17', () => {
  withGeth({ osaka: false });

  it('blobs with a proof for each blob are mined between other transactions of the signer', async () => {
    const blobs = await create(ALICE, 'blobs', { to: NOBODY, blobs: [blobOf('one'), blobOf('two')] });
    const plain = await create(ALICE, 'plain', { to: NOBODY, value: '1' });
    const more = await create(ALICE, 'more', { to: NOBODY, blobs: [blobOf('three')] });
    const [first, second, third] = [await confirmed(blobs), await confirmed(plain), await confirmed(more)];
    expect(await onChain(first)).toMatchObject({ type: '0x3', blobVersionedHashes: first.payload.blobs });
    expect(first.payload.blobs).toHaveLength(2);
    expect(await onChain(second)).toMatchObject({ type: '0x2' });
    expect(await onChain(third)).toMatchObject({ type: '0x3', blobVersionedHashes: third.payload.blobs });
  });
});

async function addressOf(txId: string): Promise<string | null> {
  return (await cluster.node(0).service.get<TxView>(`/api/v1/tx/${txId}`)).body.contractAddress;
}
