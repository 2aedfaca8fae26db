import { isError, type TypedDataDomain, TypedDataEncoder, type TypedDataField } from 'ethers';
import { InvalidInput } from '../../kernel/errors.js';
import { type Hash, parseHash } from '../../kernel/hex.js';

/** As `eth_signTypedData_v4` takes it. What is in it is not checked. */
export interface TypedData {
  readonly domain: TypedDataDomain;
  /** With `EIP712Domain` or without it. */
  readonly types: Readonly<Record<string, TypedDataField[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
}

export interface EncodedTypedData {
  /** 0x1901, and the hashes of domain and message. */
  readonly bytes: Uint8Array;
  /** Keccak-256 of the bytes. */
  readonly digest: Hash;
}

/**
 * EIP-712.
 * @throws InvalidInput `invalid_typed_data`
 */
export function encodeTypedData({ domain, types, primaryType, message }: TypedData): EncodedTypedData {
  try {
    const { EIP712Domain: declared, ...others } = types;
    if (declared && namesOf(declared.map(({ name }) => name)) !== namesOf(Object.keys(domain)))
      throw invalid('types.EIP712Domain has other fields than domain');
    const encoder = TypedDataEncoder.from(others);
    if (encoder.primaryType !== primaryType) throw invalid(`primaryType is not ${encoder.primaryType}`);
    return {
      bytes: Buffer.from(TypedDataEncoder.encode(domain, others, message).slice(2), 'hex'),
      digest: parseHash(TypedDataEncoder.hash(domain, others, message)),
    };
  } catch (error) {
    if (error instanceof InvalidInput) throw error;
    throw invalid(isError(error, 'INVALID_ARGUMENT') ? error.shortMessage.slice(0, 200) : 'it cannot be encoded');
  }
}

const namesOf = (names: readonly string[]): string => names.toSorted().join();

function invalid(why: string): InvalidInput {
  return new InvalidInput(
    'invalid_typed_data',
    `not typed data: ${why}`,
    'send domain, types, primaryType and message as eth_signTypedData_v4 takes them (EIP-712)',
  );
}
