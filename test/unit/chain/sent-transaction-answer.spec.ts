import { expect, it } from '@jest/globals';
import { toQuantity, Transaction, type TransactionLike, Wallet } from 'ethers';
import { sentTransaction } from '../../../src/modules/chain/infrastructure/sent-transaction-answer.js';
import { aHash, anAddress, DEV_CHAIN } from '../../support/builders.js';

const WALLET = new Wallet(`0x${'11'.repeat(32)}`);
const PLAIN = { chainId: 31337, nonce: 7, to: anAddress(2), value: 5n, data: '0xab', gasLimit: 30_000n };
const PRICED = { maxFeePerGas: 9n, maxPriorityFeePerGas: 3n };
const ACCESS = [{ address: anAddress(3), storageKeys: [aHash(4)] }];

/** As a node shows it. */
async function shown(content: TransactionLike): Promise<{ tx: Transaction; answer: Record<string, unknown> }> {
  const tx = Transaction.from(await WALLET.signTransaction(content));
  const { r, s, yParity, networkV, v } = tx.signature ?? { r: '', s: '', yParity: 0, networkV: null, v: 0 };
  const amounts = {
    type: tx.type,
    chainId: tx.chainId,
    nonce: tx.nonce,
    value: tx.value,
    gas: tx.gasLimit,
    gasPrice: tx.gasPrice,
    maxFeePerGas: tx.maxFeePerGas,
    maxPriorityFeePerGas: tx.maxPriorityFeePerGas,
    maxFeePerBlobGas: tx.maxFeePerBlobGas,
    ...(tx.type === 0 ? { v: networkV ?? v } : { yParity }),
  };
  const quantities = Object.entries(amounts).flatMap(([name, amount]) =>
    amount === null ? [] : [[name, toQuantity(amount)] as const],
  );
  const answer = {
    ...Object.fromEntries(quantities),
    from: WALLET.address,
    hash: tx.hash,
    to: tx.to,
    input: tx.data,
    r: toQuantity(r),
    s: toQuantity(s),
    ...(tx.accessList && { accessList: tx.accessList }),
    ...(tx.blobVersionedHashes && { blobVersionedHashes: tx.blobVersionedHashes }),
    ...(tx.authorizationList && {
      authorizationList: tx.authorizationList.map(({ chainId, address, nonce, signature }) => ({
        chainId: toQuantity(chainId),
        address,
        nonce: toQuantity(nonce),
        yParity: toQuantity(signature.yParity),
        r: toQuantity(signature.r),
        s: toQuantity(signature.s),
      })),
    }),
  };
  return { tx, answer };
}

it.each<[string, () => Promise<TransactionLike>, object]>([
  ['legacy', async () => ({ ...PLAIN, type: 0, gasPrice: 9n }), { type: 0, maxFeePerGas: 9n }],
  [
    'with an access list',
    async () => ({ ...PLAIN, type: 1, gasPrice: 9n, accessList: ACCESS }),
    { accessList: ACCESS },
  ],
  ['EIP-1559', async () => ({ ...PLAIN, ...PRICED, type: 2 }), { type: 2, ...PRICED }],
  [
    'with blobs',
    async () => ({
      ...PLAIN,
      ...PRICED,
      type: 3,
      maxFeePerBlobGas: 8n,
      blobVersionedHashes: [`0x01${'ab'.repeat(31)}`],
    }),
    { type: 3, maxFeePerBlobGas: 8n, blobHashes: [`0x01${'ab'.repeat(31)}`] },
  ],
  [
    'with authorizations',
    async () => ({
      ...PLAIN,
      ...PRICED,
      type: 4,
      authorizationList: [await WALLET.authorize({ address: anAddress(5), chainId: 0, nonce: 3 })],
    }),
    { type: 4, authorizationList: [{ chainId: 0n, address: anAddress(5), nonce: 3n }] },
  ],
])(
  'a transaction that is %s is read from the answer of a node with the bytes that were signed',
  async (_, make, content) => {
    const { tx, answer } = await shown(await make());
    const { to, value, data } = PLAIN;
    expect(sentTransaction(answer, DEV_CHAIN)).toMatchObject({
      raw: tx.serialized,
      hash: tx.hash,
      to,
      value,
      data,
      ...content,
    });
  },
);

it.each<[string, string, Record<string, unknown>]>([
  ['skalenetwork/skaled#1959', 'without a chain id', { chainId: undefined }],
  ['NethermindEth/nethermind#3057', 'with the v of a legacy transaction', { chainId: undefined, yParity: undefined }],
])('%s: a transaction of EIP-1559 that is told %s is read all the same', async (_source, _told, untold) => {
  const { tx, answer } = await shown({ ...PLAIN, ...PRICED, type: 2 });
  const v = toQuantity(tx.signature?.v ?? 0);
  expect(sentTransaction({ ...answer, v, ...untold }, DEV_CHAIN)).toMatchObject({ raw: tx.serialized, hash: tx.hash });
  expect(sentTransaction({ ...answer, v, ...untold }, 1)).toBeNull();
});

it('what our key signed for another chain is no transaction of this one; without a chain id it is one of every chain', async () => {
  const elsewhere = await shown({ ...PLAIN, ...PRICED, type: 2, chainId: 1 });
  expect(sentTransaction(elsewhere.answer, DEV_CHAIN)).toBeNull();
  expect(sentTransaction(elsewhere.answer, 1)).toMatchObject({ hash: elsewhere.tx.hash });
  const { tx, answer } = await shown({ ...PLAIN, type: 0, gasPrice: 9n, chainId: 0 });
  expect(sentTransaction(answer, DEV_CHAIN)).toMatchObject({ hash: tx.hash });
});
