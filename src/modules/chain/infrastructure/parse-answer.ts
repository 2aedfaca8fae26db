import { messageOf } from '../../../kernel/errors.js';
import { type Address, type Hash, parseAddress, parseHash, parseHex } from '../../../kernel/hex.js';
import type { Block, BlockHeader, Receipt } from '../domain/block.js';
import { isRecord, type RpcReply } from './rpc/json-rpc.js';

/** The root of an empty list: keccak256(rlp('')). */
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const NO_BLOCK = `0x${'0'.repeat(64)}`;
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
const ignore: Untold = () => undefined;

/** The answer of a node does not have the format of the method. The message names the field, not its content. */
export class MalformedAnswer extends Error {
  constructor(field: string, expected: string) {
    super(`${field} is not ${expected}`);
    this.name = 'MalformedAnswer';
  }
}

/** Is told the name of a field that only informs, and that an answer does not have, or has in another form. */
export type Untold = (field: string) => void;

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

/** A JSON-RPC quantity. Leading zeros and JSON numbers are accepted: some nodes answer so (docs/public-cases.md). */
export function quantity(value: unknown, field: string): bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
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

/** Only what decides is demanded: number, hash and parent (docs/invariants.md, K1). */
export function blockHeader(value: unknown, untold: Untold = ignore): BlockHeader {
  const block = fields(value, 'block');
  const number = smallNumber(block['number'], 'block.number');
  const own = blockHash(block['hash'], 'block.hash');
  if (own === null) throw new MalformedAnswer('block.hash', 'the hash of a block');
  const baseFee = block['baseFeePerGas'] ?? null;
  return {
    number,
    hash: own,
    parentHash: hash(block['parentHash'], 'block.parentHash'),
    timestamp: informed(block['timestamp'], 'block.timestamp', smallNumber, untold),
    baseFeePerGas: baseFee === null ? null : informed(baseFee, 'block.baseFeePerGas', quantity, untold),
    receiptsRoot: rootOrNull(block['receiptsRoot']),
  };
}

/** A transaction that is told without a readable hash cannot be ours by what this block says. */
export function block(value: unknown, untold: Untold = ignore): Block {
  const header = blockHeader(value, untold);
  const told = informed(fields(value, 'block')['transactions'], 'block.transactions', list, untold);
  const hashes = (told ?? []).map((item) =>
    informed(isRecord(item) ? item['hash'] : item, 'block.transactions[]', hash, untold),
  );
  const transactionHashes = hashes.filter((each) => each !== null);
  const isWhole = transactionHashes.length === told?.length && (told.length > 0 || isEmpty(fields(value, 'block')));
  return { ...header, transactionHashes, listsAll: isWhole };
}

/** Whether a block without a list has no transactions. Gas alone does not tell: on Ethermint it is also that of what is no transaction of the EVM. */
function isEmpty({ transactionsRoot, gasUsed }: Readonly<Record<string, unknown>>): boolean {
  return rootOrNull(transactionsRoot) === EMPTY_ROOT || informed(gasUsed, 'block.gasUsed', quantity) === 0n;
}

/** The hash of a block; null where there is none: nodes name a block of zeros for what is not in a block yet (docs/invariants.md, K2). */
export function blockHash(value: unknown, field: string): Hash | null {
  return value === null || value === undefined || value === NO_BLOCK ? null : hash(value, field);
}

/** A block that is only announced (docs/invariants.md, K2). */
export function isPreconfirmed(value: unknown): boolean {
  return blockHash(fields(value, 'block')['hash'], 'block.hash') === null;
}

/**
 * null for a transaction that is known but not in a block: some nodes answer with an empty receipt. Only what decides is demanded:
 * transaction, block and status (docs/invariants.md, K1).
 */
export function receipt(value: unknown, untold: Untold = ignore): Receipt | null {
  const raw = fields(value, 'receipt');
  const inBlock = blockHash(raw['blockHash'], 'receipt.blockHash');
  if (inBlock === null) return null;
  // Chains without EIP-1559 have only the offered gas price.
  const price = raw['effectiveGasPrice'] ?? raw['gasPrice'];
  return {
    txHash: hash(raw['transactionHash'], 'receipt.transactionHash'),
    blockNumber: smallNumber(raw['blockNumber'], 'receipt.blockNumber'),
    blockHash: inBlock,
    transactionIndex: informed(raw['transactionIndex'], 'receipt.transactionIndex', smallNumber, untold),
    status: status(raw['status']),
    gasUsed: informed(raw['gasUsed'], 'receipt.gasUsed', quantity, untold),
    effectiveGasPrice: informed(price, 'receipt.effectiveGasPrice', quantity, untold),
    contractAddress: contract(raw['contractAddress'], untold),
  };
}

/** Null also for what has not the form of a receipt. */
export function readableReceipt(value: unknown, untold?: Untold): Receipt | null {
  try {
    return receipt(value, untold);
  } catch (error) {
    if (error instanceof MalformedAnswer) return null;
    throw error;
  }
}

/** Nodes tell in several ways that none was created. */
function contract(value: unknown, untold: Untold): Address | null {
  if (value === null || value === undefined || value === '' || value === '0x' || value === ZERO_ADDRESS) return null;
  return informed(value, 'receipt.contractAddress', address, untold);
}

/** For a field that only informs. */
export function informed<T>(
  value: unknown,
  field: string,
  parse: (value: unknown, field: string) => T,
  untold: Untold = ignore,
): T | null {
  try {
    if (value !== null && value !== undefined) return parse(value, field);
  } catch (error) {
    if (!(error instanceof MalformedAnswer)) throw error;
  }
  untold(field);
  return null;
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
