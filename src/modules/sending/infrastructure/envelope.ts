import { type Hash, type Hex, parseHash, parseHex } from '../../../kernel/hex.js';
import { rlpBytes, rlpInteger, rlpList } from '../../../kernel/rlp.js';
import type { EcdsaSignature, Signable } from '../../../kernel/signing.js';
import { keccak256 } from '../../../platform/crypto/keccak256.js';
import type { SignedAuthorization } from '../../ledger/index.js';
import type { AttemptDraft } from '../application/attempt-signer.js';

/** EIP-155: v of a legacy transaction is the parity, plus twice the chain id, plus this. */
const LEGACY_V = 35n;
const ZERO = rlpInteger(0n);

/**
 * The bytes of a transaction of any type (EIP-2718). Of a blob transaction these are the bytes that have the hash and that a block holds;
 * the blobs travel beside them.
 */
export class Envelope {
  readonly unsigned: Signable;
  private readonly fields: Fields;
  private readonly type: EncodableDraft['type'];
  private readonly chainId: bigint;

  /** @throws RangeError when these values make no valid transaction */
  constructor(draft: EncodableDraft) {
    this.type = draft.type;
    this.chainId = BigInt(draft.signer.chainId);
    this.fields = fieldsOf(draft);
    const bytes = this.bytes(this.type === 0 ? [rlpInteger(this.chainId), ZERO, ZERO] : []);
    this.unsigned = { kind: this.type, bytes, digest: hashOf(bytes) };
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

const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;
/** The limit of EIP-2681. */
const NONCE_LIMIT = 2n ** 64n - 1n;

/** A draft whose authorizations have signatures. */
export type EncodableDraft = Omit<AttemptDraft, 'authorizationList'> & {
  readonly authorizationList?: readonly SignedAuthorization[];
};

/** The encoded fields of an unsigned transaction, in the order of its type. */
type Fields = readonly Buffer[];

/** @throws RangeError when these values make no valid transaction */
function fieldsOf(draft: EncodableDraft): Fields {
  if (draft.nonce >= NONCE_LIMIT) throw new RangeError('the nonce is above the limit of EIP-2681');
  if (draft.fees.maxPriorityFeePerGas > draft.fees.maxFeePerGas) throw new RangeError('the tip is above the fee cap');
  assertOfType(draft);
  switch (draft.type) {
    case 0:
      return [rlpInteger(draft.nonce), rlpInteger(draft.fees.maxFeePerGas), ...callOf(draft)];
    case 1:
      return [chainOf(draft), rlpInteger(draft.nonce), rlpInteger(draft.fees.maxFeePerGas), ...withAccessList(draft)];
    case 2:
      return feeMarket(draft);
    case 3:
      return [...feeMarket(toAccount(draft)), ...blobFields(draft)];
    case 4:
      return [...feeMarket(toAccount(draft)), authorizationsOf(draft)];
  }
}

/** Content that the type has no field for would be lost. */
function assertOfType({ type, accessList, blobHashes, authorizationList = [] }: EncodableDraft): void {
  if (type === 0 && accessList.length > 0) throw new RangeError('type 0 has no access list');
  if (type !== 3 && blobHashes) throw new RangeError(`type ${type} has no blobs`);
  if (type !== 4 && authorizationList.length > 0) throw new RangeError(`type ${type} has no authorizations`);
}

function feeMarket(draft: EncodableDraft): Buffer[] {
  return [
    chainOf(draft),
    rlpInteger(draft.nonce),
    rlpInteger(draft.fees.maxPriorityFeePerGas),
    rlpInteger(draft.fees.maxFeePerGas),
    ...withAccessList(draft),
  ];
}

function chainOf({ signer }: EncodableDraft): Buffer {
  return rlpInteger(BigInt(signer.chainId));
}

function callOf({ gasLimit, to, value, data }: EncodableDraft): Buffer[] {
  return [
    rlpInteger(gasLimit),
    rlpBytes(to === null ? Buffer.alloc(0) : bytesOf(to, ADDRESS_BYTES)),
    rlpInteger(value),
    rlpBytes(bytesOf(data)),
  ];
}

function withAccessList(draft: EncodableDraft): Buffer[] {
  const entries = draft.accessList.map(({ address, storageKeys }) =>
    rlpList([
      rlpBytes(bytesOf(address, ADDRESS_BYTES)),
      rlpList(storageKeys.map((key) => rlpBytes(bytesOf(key, WORD_BYTES)))),
    ]),
  );
  return [...callOf(draft), rlpList(entries)];
}

/** EIP-4844 and EIP-7702: no contract creation. */
function toAccount(draft: EncodableDraft): EncodableDraft {
  if (draft.to === null) throw new RangeError(`type ${draft.type} cannot create a contract`);
  return draft;
}

function blobFields({ fees, blobHashes = [] }: EncodableDraft): Buffer[] {
  if (blobHashes.length === 0) throw new RangeError('type 3 needs a blob');
  if (fees.maxFeePerBlobGas === undefined) throw new RangeError('type 3 needs a fee for blob gas');
  return [rlpInteger(fees.maxFeePerBlobGas), rlpList(blobHashes.map((hash) => rlpBytes(bytesOf(hash, WORD_BYTES))))];
}

function authorizationsOf({ authorizationList = [] }: EncodableDraft): Buffer {
  if (authorizationList.length === 0) throw new RangeError('type 4 needs an authorization');
  return rlpList(
    authorizationList.map(({ chainId, address, nonce, yParity, r, s }) =>
      rlpList([
        rlpInteger(chainId),
        rlpBytes(bytesOf(address, ADDRESS_BYTES)),
        rlpInteger(nonce),
        rlpInteger(BigInt(yParity)),
        rlpInteger(BigInt(r)),
        rlpInteger(BigInt(s)),
      ]),
    ),
  );
}

function bytesOf(hex: Hex, length?: number): Buffer {
  const bytes = Buffer.from(hex.slice(2), 'hex');
  if (length !== undefined && bytes.length !== length)
    throw new RangeError(`${bytes.length} bytes, expected ${length}`);
  return bytes;
}
