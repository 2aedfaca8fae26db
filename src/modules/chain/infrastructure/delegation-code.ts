import { parseHex } from '../../../kernel/hex.js';
import { text } from './parse-answer.js';

/** EIP-7702: the code of an account that delegates is this, and the address of the contract whose code it runs. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i;

export function isDelegation(code: unknown): boolean {
  return DELEGATION.test(text(code, 'code', parseHex));
}
