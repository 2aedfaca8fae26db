import { type Hash, type Hex, parseHash, parseHex } from '../../../kernel/hex.js';
import { rlpInteger, rlpList } from '../../../kernel/rlp.js';
import { keccak256 } from '../../../platform/crypto/keccak256.js';
import type { EcdsaSignature } from '../../signers/index.js';
import { type EncodableDraft, type Fields, fieldsOf } from './envelope-fields.js';

/** EIP-155: v of a legacy transaction is the parity, plus twice the chain id, plus this. */
const LEGACY_V = 35n;
const ZERO = rlpInteger(0n);

/**
 * The bytes of a transaction of any type (EIP-2718). Of a blob transaction these are the bytes that have the hash and that a block holds;
 * the blobs travel beside them.
 */
export class Envelope {
  /** The digest to sign. */
  readonly digest: Hash;
  private readonly fields: Fields;
  private readonly type: EncodableDraft['type'];
  private readonly chainId: bigint;

  /** @throws RangeError when these values make no valid transaction */
  constructor(draft: EncodableDraft) {
    this.type = draft.type;
    this.chainId = BigInt(draft.signer.chainId);
    this.fields = fieldsOf(draft);
    this.digest = hashOf(this.bytes(this.type === 0 ? [rlpInteger(this.chainId), ZERO, ZERO] : []));
  }

  signed({ r, s, yParity }: EcdsaSignature): { readonly raw: Hex; readonly txHash: Hash } {
    const parity = BigInt(yParity);
    const v = this.type === 0 ? this.chainId * 2n + LEGACY_V + parity : parity;
    const bytes = this.bytes([rlpInteger(v), rlpInteger(BigInt(r)), rlpInteger(BigInt(s))]);
    return { raw: parseHex(`0x${bytes.toString('hex')}`), txHash: hashOf(bytes) };
  }

  private bytes(ending: Fields): Buffer {
    const list = rlpList([...this.fields, ...ending]);
    return this.type === 0 ? list : Buffer.concat([Buffer.of(this.type), list]);
  }
}

function hashOf(bytes: Buffer): Hash {
  return parseHash(`0x${keccak256(bytes).toString('hex')}`);
}
