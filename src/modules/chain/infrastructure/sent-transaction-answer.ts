import { type Authorization, Signature, toBeHex, Transaction } from 'ethers';
import { type Address, parseAddress, parseHash, parseHex } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { SentTransaction } from '../domain/sent-transaction.js';
import { address, fields, hash, informed, list, MalformedAnswer, quantity } from './parse-answer.js';
import { isRecord } from './rpc/json-rpc.js';

type Answer = Readonly<Record<string, unknown>>;

/**
 * Parses a transaction of a JSON-RPC answer and encodes its bytes again. Null when they cannot be encoded (an unknown type), do not have
 * the hash, or were signed by another key or for another chain, on which the key has the same address: such an answer is not used.
 */
export function sentTransaction(value: unknown, chainId: ChainId): SentTransaction | null {
  const answer = fields(value, 'transaction');
  const account = address(answer['from'], 'transaction.from');
  const claimed = hash(answer['hash'], 'transaction.hash');
  const nonce = quantity(answer['nonce'], 'transaction.nonce');
  const encoded = encode(answer, nonce, BigInt(chainId));
  if (encoded?.hash !== claimed || encoded.from?.toLowerCase() !== account) return null;
  // A legacy transaction without a chain id, which ethers calls 0, is valid on every chain.
  if (encoded.chainId !== 0n && encoded.chainId !== BigInt(chainId)) return null;
  return { ...contentOf(encoded, account), nonce, hash: claimed, raw: parseHex(encoded.serialized) };
}

/** The sender of a transaction, before the rest is parsed; null when it has none, or is told in another form (docs/public-cases.md). */
export function senderOf(value: unknown): Address | null {
  return isRecord(value) ? informed(value['from'], 'transaction.from', address) : null;
}

function encode(answer: Answer, nonce: bigint, ofThisChain: bigint): Transaction | null {
  try {
    const type = Number(amount(answer, 'type', 0n));
    const isPriced = answer['maxFeePerGas'] !== undefined && answer['maxFeePerGas'] !== null;
    return Transaction.from({
      type,
      // A legacy transaction may have no chain id; `v` contains it if there is one.
      ...(type === 0 && answer['chainId'] == null ? {} : { chainId: amount(answer, 'chainId', ofThisChain) }),
      nonce: Number(nonce),
      gasLimit: amount(answer, 'gas'),
      to: answer['to'] === null || answer['to'] === undefined ? null : address(answer['to'], 'transaction.to'),
      value: amount(answer, 'value'),
      data: String(answer['input'] ?? answer['data']),
      ...(isPriced
        ? {
            maxFeePerGas: amount(answer, 'maxFeePerGas'),
            maxPriorityFeePerGas: amount(answer, 'maxPriorityFeePerGas'),
          }
        : { gasPrice: amount(answer, 'gasPrice') }),
      ...(answer['maxFeePerBlobGas'] == null ? {} : { maxFeePerBlobGas: amount(answer, 'maxFeePerBlobGas') }),
      ...(answer['blobVersionedHashes'] == null ? {} : { blobVersionedHashes: words(answer['blobVersionedHashes']) }),
      ...(answer['authorizationList'] == null
        ? {}
        : { authorizationList: authorizations(answer['authorizationList']) }),
      ...(answer['accessList'] ? { accessList: accessList(answer['accessList']) } : {}),
      signature: signature(answer),
    });
  } catch (error) {
    // ethers throws errors of many kinds for a transaction that it cannot encode.
    if (error instanceof Error) return null;
    throw error;
  }
}

function signature(answer: Answer): Signature {
  const [r, s] = [amount(answer, 'r'), amount(answer, 's')].map((word) => toBeHex(word, 32));
  if (r === undefined || s === undefined) throw new MalformedAnswer('transaction', 'signed');
  const parity = answer['yParity'];
  if (parity !== undefined && parity !== null) return Signature.from({ r, s, yParity: Number(parity) === 1 ? 1 : 0 });
  return Signature.from({ r, s, v: amount(answer, 'v') });
}

/** ethers encodes no other types. */
function typeOf({ type }: Transaction): SentTransaction['type'] {
  return type === 1 || type === 2 || type === 3 || type === 4 ? type : 0;
}

/** EIP-7702. */
function authorizations(value: unknown): Authorization[] {
  return list(value, 'transaction.authorizationList').map((item) => {
    const entry = fields(item, 'transaction.authorizationList[]');
    return {
      chainId: amount(entry, 'chainId'),
      address: address(entry['address'], 'transaction.authorizationList[].address'),
      nonce: amount(entry, 'nonce'),
      signature: signature(entry),
    };
  });
}

function words(value: unknown): string[] {
  return list(value, 'transaction.blobVersionedHashes').map((word) => hash(word, 'versioned hash'));
}

function accessList(value: unknown): { address: string; storageKeys: string[] }[] {
  return list(value, 'transaction.accessList').map((item) => {
    const entry = fields(item, 'transaction.accessList[]');
    return {
      address: address(entry['address'], 'transaction.accessList[].address'),
      storageKeys: list(entry['storageKeys'], 'transaction.accessList[].storageKeys').map((key) => hash(key, 'key')),
    };
  });
}

function amount(answer: Answer, field: string, fallback?: bigint): bigint {
  const value = answer[field];
  return value == null && fallback !== undefined ? fallback : quantity(value, `transaction.${field}`);
}

function contentOf(parsed: Transaction, account: Address): Omit<SentTransaction, 'nonce' | 'hash' | 'raw'> {
  const price = parsed.gasPrice ?? 0n;
  return {
    account,
    to: parsed.to === null ? null : parseAddress(parsed.to),
    value: parsed.value,
    data: parseHex(parsed.data),
    accessList: (parsed.accessList ?? []).map(({ address: at, storageKeys }) => ({
      address: parseAddress(at),
      storageKeys: storageKeys.map(parseHex),
    })),
    gasLimit: parsed.gasLimit,
    maxFeePerGas: parsed.maxFeePerGas ?? price,
    maxPriorityFeePerGas: parsed.maxPriorityFeePerGas ?? price,
    ...(parsed.maxFeePerBlobGas !== null && { maxFeePerBlobGas: parsed.maxFeePerBlobGas }),
    ...(parsed.blobVersionedHashes !== null && { blobHashes: parsed.blobVersionedHashes.map(parseHash) }),
    ...(parsed.authorizationList !== null && {
      authorizationList: parsed.authorizationList.map(({ chainId, address: target, nonce }) => ({
        chainId,
        address: parseAddress(target),
        nonce,
      })),
    }),
    type: typeOf(parsed),
  };
}
