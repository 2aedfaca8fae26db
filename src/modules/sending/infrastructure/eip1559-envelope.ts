import { type Hash, type Hex, parseHash, parseHex } from '../../../kernel/hex.js';
import { rlpBytes, rlpInteger, rlpList } from '../../../kernel/rlp.js';
import { keccak256 } from '../../../platform/crypto/keccak256.js';
import type { EcdsaSignature } from '../../signers/index.js';
import type { AttemptDraft } from '../application/attempt-signer.js';

const TYPE = Buffer.of(2);
const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;
/** The limit of EIP-2681. */
const NONCE_LIMIT = 2n ** 64n - 1n;

/** The bytes of an EIP-1559 transaction (type 2). */
export class Eip1559Envelope {
  /** The digest to sign. */
  readonly digest: Hash;
  private readonly fields: readonly Buffer[];

  /** @throws RangeError when these values make no valid transaction */
  constructor(draft: AttemptDraft) {
    this.fields = fieldsOf(draft);
    this.digest = hashOf(typed(this.fields));
  }

  signed({ r, s, yParity }: EcdsaSignature): { readonly raw: Hex; readonly txHash: Hash } {
    const bytes = typed([...this.fields, rlpInteger(BigInt(yParity)), rlpInteger(BigInt(r)), rlpInteger(BigInt(s))]);
    return { raw: parseHex(`0x${bytes.toString('hex')}`), txHash: hashOf(bytes) };
  }
}

function fieldsOf({ signer, nonce, to, value, data, gasLimit, fees, accessList }: AttemptDraft): Buffer[] {
  if (nonce >= NONCE_LIMIT) throw new RangeError('the nonce is above the limit of EIP-2681');
  if (fees.maxPriorityFeePerGas > fees.maxFeePerGas) throw new RangeError('the tip is above the fee cap');
  return [
    rlpInteger(BigInt(signer.chainId)),
    rlpInteger(nonce),
    rlpInteger(fees.maxPriorityFeePerGas),
    rlpInteger(fees.maxFeePerGas),
    rlpInteger(gasLimit),
    rlpBytes(to === null ? Buffer.alloc(0) : bytesOf(to, ADDRESS_BYTES)),
    rlpInteger(value),
    rlpBytes(bytesOf(data)),
    rlpList(
      accessList.map(({ address, storageKeys }) =>
        rlpList([
          rlpBytes(bytesOf(address, ADDRESS_BYTES)),
          rlpList(storageKeys.map((key) => rlpBytes(bytesOf(key, WORD_BYTES)))),
        ]),
      ),
    ),
  ];
}

function typed(fields: readonly Buffer[]): Buffer {
  return Buffer.concat([TYPE, rlpList(fields)]);
}

function bytesOf(hex: Hex, length?: number): Buffer {
  const bytes = Buffer.from(hex.slice(2), 'hex');
  if (length !== undefined && bytes.length !== length)
    throw new RangeError(`${bytes.length} bytes, expected ${length}`);
  return bytes;
}

function hashOf(bytes: Buffer): Hash {
  return parseHash(`0x${keccak256(bytes).toString('hex')}`);
}
