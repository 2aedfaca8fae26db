import { messageOf } from '../../../kernel/errors.js';
import { type Address, type Hash, parseAddress, parseHash, parseHex } from '../../../kernel/hex.js';
import type { Block, BlockHeader, Receipt } from '../domain/block.js';
import { isRecord, type RpcReply } from './rpc/json-rpc.js';

/** The answer of a node does not have the format of the method. The message names the field, not its content. */
export class MalformedAnswer extends Error {
  constructor(field: string, expected: string) {
    super(`${field} is not ${expected}`);
    this.name = 'MalformedAnswer';
  }
}

/** null for a failure, an error, a null result, or a result of another format. */
export function parsedOrNull<T>(reply: RpcReply | undefined, parse: (value: unknown) => T): T | null {
  if (reply?.kind !== 'result' || reply.value === null) return null;
  try {
    return parse(reply.value);
  } catch (error) {
    if (error instanceof MalformedAnswer) return null;
    throw error;
  }
}

/** A JSON-RPC quantity. Leading zeros are accepted: some nodes add them. */
export function quantity(value: unknown, field: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value))
    throw new MalformedAnswer(field, 'a hex quantity');
  return BigInt(value);
}

/** In the format of JSON-RPC, without leading zeros. */
export function hexQuantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** A quantity that counts blocks, seconds or positions. */
export function smallNumber(value: unknown, field: string): number {
  const number = Number(quantity(value, field));
  if (!Number.isSafeInteger(number)) throw new MalformedAnswer(field, 'a number below 2^53');
  return number;
}

export function hash(value: unknown, field: string): Hash {
  return text(value, field, parseHash);
}

export function list(value: unknown, field: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new MalformedAnswer(field, 'a list');
  return value;
}

export function fields(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new MalformedAnswer(field, 'an object');
  return value;
}

export function blockHeader(value: unknown): BlockHeader {
  const block = fields(value, 'block');
  const baseFee = block['baseFeePerGas'];
  return {
    number: smallNumber(block['number'], 'block.number'),
    hash: hash(block['hash'], 'block.hash'),
    parentHash: hash(block['parentHash'], 'block.parentHash'),
    timestamp: smallNumber(block['timestamp'], 'block.timestamp'),
    baseFeePerGas: baseFee === undefined || baseFee === null ? null : quantity(baseFee, 'block.baseFeePerGas'),
    receiptsRoot: rootOrNull(block['receiptsRoot']),
  };
}

export function block(value: unknown): Block {
  const hashes = list(fields(value, 'block')['transactions'], 'block.transactions');
  return { ...blockHeader(value), transactionHashes: hashes.map((item) => hash(item, 'block.transactions[]')) };
}

/** null for a transaction that is known but not in a block: some nodes answer with an empty receipt. */
export function receipt(value: unknown): Receipt | null {
  const raw = fields(value, 'receipt');
  if (raw['blockHash'] === null || raw['blockHash'] === undefined) return null;
  const contract = raw['contractAddress'];
  return {
    txHash: hash(raw['transactionHash'], 'receipt.transactionHash'),
    blockNumber: smallNumber(raw['blockNumber'], 'receipt.blockNumber'),
    blockHash: hash(raw['blockHash'], 'receipt.blockHash'),
    transactionIndex: smallNumber(raw['transactionIndex'], 'receipt.transactionIndex'),
    status: status(raw['status']),
    gasUsed: quantity(raw['gasUsed'], 'receipt.gasUsed'),
    // Chains without EIP-1559 have only the offered gas price.
    effectiveGasPrice: quantity(raw['effectiveGasPrice'] ?? raw['gasPrice'], 'receipt.effectiveGasPrice'),
    contractAddress: contract === null || contract === undefined ? null : address(contract, 'receipt.contractAddress'),
  };
}

/** The root is only used for proofs, so a chain without a valid root is followed, too. */
function rootOrNull(value: unknown): Hash | null {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value) ? parseHash(value) : null;
}

/** Values other than 0 and 1 are malformed, and are read neither as success nor as revert. */
function status(value: unknown): Receipt['status'] {
  const number = quantity(value, 'receipt.status');
  if (number > 1n) throw new MalformedAnswer('receipt.status', '0 or 1');
  return number === 1n ? 'success' : 'reverted';
}

export function address(value: unknown, field: string): Address {
  return text(value, field, parseAddress);
}

export function text<T>(value: unknown, field: string, parse: (text: string) => T): T {
  if (typeof value !== 'string') throw new MalformedAnswer(field, 'a string');
  try {
    return parse(value);
  } catch (error) {
    throw new MalformedAnswer(field, `valid: ${messageOf(error)}`);
  }
}

/** EIP-7702: the code of an account that delegates is this, and the address of the contract whose code it runs. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i;

export function isDelegation(code: unknown): boolean {
  return DELEGATION.test(text(code, 'code', parseHex));
}
