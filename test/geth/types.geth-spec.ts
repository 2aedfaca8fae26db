import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parseHex } from '../../src/kernel/hex.js';
import type { BlobSidecar } from '../../src/modules/chain/index.js';
import { ProveBlobs } from '../../src/modules/requests/application/prove-blobs.js';
import type { TxPayload } from '../../src/modules/ledger/domain/tx-request.js';
import type { TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { aBlob, anAddress, DEV_CHAIN } from '../support/builders.js';
import { Geth } from '../support/geth.js';
import { makeWaitingDue } from '../support/node-lab.js';
import { RpcLab } from '../support/rpc-lab.js';
import { until } from '../support/until.js';

const CODE = anAddress(0xc0de);
/** Init code of a contract whose code is one STOP. */
const STOP_CREATION = parseHex('0x6001600c60003960016000f300');

let geth: Geth;
let lab: RpcLab;
let tag = 0;

beforeAll(async () => {
  geth = await Geth.start();
});

beforeEach(async () => {
  tag += 100;
  // Of blobs in the older form geth computes the proofs itself, and would take wrong ones.
  lab = await RpcLab.open({
    chainUrl: geth.url,
    chain: { blobProofs: 'cell' },
    setConstants: ({ nonce }) => Object.assign(nonce, { poolQuietTime: 1 }),
  });
});

afterEach(() => lab.close());

afterAll(() => geth.stop());

/** Stores a payload, with blobs if there are some. */
async function create(
  at: number,
  extra: Partial<TxPayload>,
  blobs: readonly Buffer[] = [],
  tamper: (sidecar: BlobSidecar) => BlobSidecar = (sidecar) => sidecar,
): Promise<string> {
  const { payload, ...rest } = lab.request(at);
  const { sidecar, ...asked } = await lab.node
    .get(ProveBlobs)
    .execute({ ...rest, payload: { ...payload, ...extra } }, blobs);
  const { txId } = await lab.node.create(sidecar ? { ...asked, sidecar: tamper(sidecar) } : asked);
  return txId;
}

/** Lets lanes and followers work until the tx is final. */
async function finished(txId: string): Promise<TxView> {
  await until(`${txId} is final`, async () => {
    await makeWaitingDue(lab.node);
    await lab.node.step();
    await lab.node.follow();
    return (await lab.node.tx(txId)).state === 'CONFIRMED';
  });
  return lab.node.tx(txId);
}

async function nonceOf(txId: string): Promise<number> {
  return Number((await finished(txId)).nonce);
}

describe('on geth', () => {
  it('a contract is created at the address that was told with its nonce', async () => {
    const txId = await create(tag, { to: null, value: 0n, data: STOP_CREATION });
    await lab.node.step();
    const { contractAddress } = await lab.node.tx(txId);
    expect(await finished(txId)).toMatchObject({ contractAddress, receipt: { contractAddress } });
    expect(await lab.ask('eth_getCode', contractAddress, 'latest')).toBe('0x00');
  });

  it('blobs are mined, two transactions of them in a row, and what has none waits for its turn', async () => {
    const blobs = [aBlob(3), aBlob(7)];
    const plain = await create(tag, {});
    const first = await create(tag + 1, {}, blobs);
    const second = await create(tag + 2, {}, [Buffer.alloc(131_072)]);
    const later = await create(tag + 3, {});
    for (const txId of [plain, first, second, later]) await finished(txId);
    const attempts = await Promise.all([plain, first, second, later].map((txId) => lab.attempts(txId)));
    // No pool refused any of them: each was signed and sent once.
    expect(attempts.map((own) => own.map(({ type, lastError }) => [type, lastError]))).toEqual([
      [[2, null]],
      [[3, null]],
      [[3, null]],
      [[2, null]],
    ]);
  });

  it('blobs with a wrong proof are refused', async () => {
    const wrong = await create(tag, {}, [aBlob(3)], (sidecar) => ({
      ...sidecar,
      blobProofs: sidecar.commitments,
      cellProofs: sidecar.cellProofs.map((own) => Buffer.concat([own.subarray(48), own.subarray(0, 48)])),
    }));
    await lab.node.step();
    const [attempt] = await lab.attempts(wrong);
    expect(attempt).toMatchObject({ status: 'REJECTED', errorClass: 'blob_error' });
    expect(attempt?.lastError).toContain('proof');
  });

  it('a delegation of another signer is in force, and that signer goes on after it', async () => {
    const { node } = lab;
    const [sender, authority] = [node.signer(), node.signer(1)];
    await node.step(sender, authority);
    const authorizationList = [{ chainId: BigInt(DEV_CHAIN), address: CODE, authority: authority.address }];
    const txId = await create(tag, { authorizationList });
    const { payload } = lab.request(tag + 1);
    const after = await lab.create(tag + 1, { signer: authority, payload });
    await until('both are final', async () => {
      await node.authorizations();
      await makeWaitingDue(node);
      await node.step(sender, authority);
      await node.follow();
      return (await lab.states([txId, after])).every((state) => state === 'CONFIRMED');
    });
    expect(await lab.ask('eth_getCode', authority.address, 'latest')).toBe(`0xef0100${CODE.slice(2)}`);
    const attempts = await Promise.all([txId, after].map((id) => lab.attempts(id)));
    // No pool refused any of them: each was signed and sent once.
    expect(attempts.map((own) => own.map(({ type, lastError }) => [type, lastError]))).toEqual([
      [[4, null]],
      [[2, null]],
    ]);
  });

  it('a signer delegates its own account with the nonce after that of its transaction, and goes on after both', async () => {
    const before = await create(tag, {});
    const { address: signer } = lab.node.signer();
    const own = await create(tag + 1, {
      to: signer,
      value: 0n,
      data: parseHex('0x'),
      gasLimit: 100_000n,
      authorizationList: [{ chainId: BigInt(DEV_CHAIN), address: CODE, signer }],
    });
    const nonces = [await nonceOf(before), await nonceOf(own), await nonceOf(await create(tag + 2, {}))];
    const [first = 0] = nonces;
    expect(nonces).toEqual([first, first + 1, first + 3]);
    expect(await lab.ask('eth_getCode', signer, 'latest')).toBe(`0xef0100${CODE.slice(2)}`);
    expect((await lab.attempts(own)).map(({ type, lastError }) => [type, lastError])).toEqual([[4, null]]);
  });
});
