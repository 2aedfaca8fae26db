import { AbiCoder } from 'ethers';
import { isRecord, type NodeError } from './rpc/json-rpc.js';
import { plain } from './rpc/match-answers.js';

const ERROR_STRING = '0x08c379a0';
const PANIC = '0x4e487b71';
/** Longer reasons are cut: a contract may return a megabyte. */
const MAX_REASON_CHARS = 500;
/** Only the start of the data is read: a regular expression over megabytes has no room on the stack. */
const MAX_DATA_CHARS = 100_000;
/** Objects in each other. */
const MAX_DEPTH = 4;

/** Solidity documentation, "Panic via assert and Error via require". */
const PANIC_MEANINGS: Readonly<Record<string, string>> = {
  '0x00': 'generic compiler panic',
  '0x01': 'assertion failed',
  '0x11': 'arithmetic overflow or underflow',
  '0x12': 'division or modulo by zero',
  '0x21': 'invalid enum value',
  '0x22': 'badly encoded storage byte array',
  '0x31': 'pop on an empty array',
  '0x32': 'array index out of bounds',
  '0x41': 'too much memory allocated, or array too large',
  '0x51': 'call to a zero-initialised function variable',
};

/** The reason of a revert: from its data if there is any, else from the message of the node. */
export function decodeRevert(error: NodeError): string {
  const data = revertData(error.data);
  const reason = (data === null ? null : fromData(data)) ?? fromMessage(error.message);
  return plain(reason).slice(0, MAX_REASON_CHARS);
}

/** geth and anvil put the bytes in `data`; hardhat in `data.data`; parity writes "Reverted 0x...". */
function revertData(data: unknown, depth = 0): string | null {
  if (isRecord(data) && depth < MAX_DEPTH)
    return revertData(data['data'], depth + 1) ?? revertData(data['result'], depth + 1);
  if (typeof data !== 'string') return null;
  const start = data.trim().slice(0, MAX_DATA_CHARS);
  return /^(?:Reverted )?(0x(?:[0-9a-f]{2}){4,})[0-9a-f]?$/i.exec(start)?.[1]?.toLowerCase() ?? null;
}

function fromData(data: string): string {
  const selector = data.slice(0, 10);
  const body = `0x${data.slice(10)}`;
  if (selector === ERROR_STRING) return decoded('string', body) ?? 'Error(string) that cannot be decoded';
  if (selector === PANIC) return panic(decoded('uint256', body));
  return `custom error ${selector}`;
}

function panic(code: string | null): string {
  if (code === null) return 'panic that cannot be decoded';
  const digits = BigInt(code).toString(16);
  const hex = `0x${digits.padStart(2, '0')}`;
  return `panic ${hex}: ${PANIC_MEANINGS[hex] ?? 'unknown code'}`;
}

/** ethers throws the error of an invalid string only when the string is read. */
function decoded(type: 'string' | 'uint256', body: string): string | null {
  try {
    const value: unknown = AbiCoder.defaultAbiCoder().decode([type], body).toArray()[0];
    return typeof value === 'string' || typeof value === 'bigint' ? value.toString() : null;
  } catch {
    return null;
  }
}

function fromMessage(message: string): string {
  const words = /reverted(?: with reason string)?:?\s*(.*)$/is.exec(message)?.[1]?.trim() ?? '';
  if (/^without/i.test(words) || (words === '' && /reverted/i.test(message))) return 'no reason given';
  return words === '' ? message : words.replace(/^'(.*)'$/s, '$1');
}
