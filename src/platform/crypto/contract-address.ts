import { type Address, parseAddress } from '../../kernel/hex.js';
import { rlpBytes, rlpInteger, rlpList } from '../../kernel/rlp.js';
import { keccak256 } from './keccak256.js';

const ADDRESS_BYTES = 20;

/** Where a transaction of the account with this nonce creates its contract: the end of keccak256(rlp([account, nonce])). */
export function contractAddress(account: Address, nonce: bigint): Address {
  const hash = keccak256(rlpList([rlpBytes(Buffer.from(account.slice(2), 'hex')), rlpInteger(nonce)]));
  return parseAddress(`0x${hash.subarray(-ADDRESS_BYTES).toString('hex')}`);
}
