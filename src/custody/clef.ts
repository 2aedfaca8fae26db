import { Transaction, type TransactionLike } from 'ethers';
import { Choice, Text, TextList } from '../config/config-fields.js';
import { type Address, parseAddress, parseHex } from '../kernel/hex.js';
import type { EcdsaSignature, Signable } from '../kernel/signing.js';
import { Addresses, CustodyEntry, type CustodyKey, HttpUrl } from './custody-entry.js';
import { postJson } from './post-json.js';
import { remoteKeys } from './remote-keys.js';

const METHODS = ['account_signTransaction', 'eth_signTransaction'] as const;

/** A signer that is asked by JSON-RPC to sign transactions: geth's clef, or any other with one of its methods. It cannot sign authorizations or blobs. */
export class ClefCustody extends CustodyEntry {
  @HttpUrl()
  @Text({ required: true })
  url = '';

  @Addresses()
  @TextList({ required: true })
  addresses: string[] = [];

  /** `account_signTransaction` is clef's, `eth_signTransaction` that of nodes with unlocked accounts. */
  @Choice(METHODS)
  method: (typeof METHODS)[number] = 'account_signTransaction';

  async keys(): Promise<readonly CustodyKey[]> {
    return remoteKeys(
      this.addresses.map((text) => {
        const address = parseAddress(text);
        const sign = (item: Signable) => this.sign(address, item);
        return { address, reference: { type: this.type }, signs: [0, 1, 2], sign };
      }),
    );
  }

  private async sign(from: Address, { bytes, digest }: Signable): Promise<EcdsaSignature> {
    const unsigned = Transaction.from(parseHex(`0x${Buffer.from(bytes).toString('hex')}`));
    const request = { jsonrpc: '2.0', id: 1, method: this.method, params: [argumentsOf(from, unsigned)] };
    const { result, error } = JSON.parse(await postJson(this.url, request)) as RpcAnswer;
    const raw = typeof result === 'string' ? result : result?.raw;
    if (raw === undefined) throw new Error(`the custody refuses: ${error?.message ?? 'without a word'}`);
    const { signature, unsignedHash } = Transaction.from(raw);
    if (signature === null || unsignedHash !== digest) throw new Error('the custody signs another transaction');
    return { r: parseHex(signature.r), s: parseHex(signature.s), yParity: signature.yParity };
  }
}

interface RpcAnswer {
  readonly result?: string | { readonly raw?: string } | null;
  readonly error?: { readonly message?: string };
}

/** As geth's `SendTxArgs`: the type follows from which prices are there, and the access list. */
function argumentsOf(from: Address, tx: TransactionLike): Record<string, unknown> {
  const prices =
    tx.type === 2
      ? { maxFeePerGas: quantity(tx.maxFeePerGas), maxPriorityFeePerGas: quantity(tx.maxPriorityFeePerGas) }
      : { gasPrice: quantity(tx.gasPrice) };
  return {
    from,
    ...(tx.to ? { to: tx.to } : {}),
    gas: quantity(tx.gasLimit),
    value: quantity(tx.value),
    nonce: quantity(tx.nonce),
    chainId: quantity(tx.chainId),
    data: tx.data,
    ...prices,
    ...(tx.type === 0 ? {} : { accessList: tx.accessList }),
  };
}

const quantity = (value: TransactionLike['value']): string => `0x${BigInt(value ?? 0).toString(16)}`;
