import { isError, type TypedDataDomain, TypedDataEncoder, type TypedDataField } from 'ethers';
import { InvalidInput } from '../../kernel/errors.js';
import { type Hash, parseHash } from '../../kernel/hex.js';
import { keccak256 } from './keccak256.js';

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

/** Beside that of the domain. ethers walks every path from type to type: their number doubles with each. */
const MAX_TYPES = 8;
const NAME = /^[A-Za-z_$][\w$]{0,99}$/;
const FIELD_TYPE = /^[A-Za-z_$][\w$]{0,99}(?:\[\d{0,3}\]){0,3}$/;
const DOMAIN_FIELDS: Readonly<Record<keyof TypedDataDomain, string>> = {
  name: 'string',
  version: 'string',
  chainId: 'uint256',
  verifyingContract: 'address',
  salt: 'bytes32',
};

/**
 * EIP-712. A message has the fields of its types, and no others, so that what is recorded of it is what is signed.
 * @throws InvalidInput `invalid_typed_data`
 */
export function encodeTypedData({ domain, types, primaryType, message }: TypedData): EncodedTypedData {
  const { EIP712Domain: declared, ...own } = types;
  assertDomain(domain, declared);
  assertTypes(own, primaryType);
  assertFields(message, primaryType, own);
  try {
    const encoder = TypedDataEncoder.from(own);
    if (encoder.primaryType !== primaryType) throw invalid(`primaryType is not ${encoder.primaryType}`);
    const hashes = [TypedDataEncoder.hashDomain(domain), encoder.hash(message)].map((hash) => hash.slice(2));
    const bytes = Buffer.from(`1901${hashes.join('')}`, 'hex');
    return { bytes, digest: parseHash(`0x${keccak256(bytes).toString('hex')}`) };
  } catch (error) {
    if (error instanceof InvalidInput) throw error;
    throw invalid(isError(error, 'INVALID_ARGUMENT') ? error.shortMessage.slice(0, 200) : 'it cannot be encoded');
  }
}

function assertDomain(domain: TypedDataDomain, declared: readonly TypedDataField[] | undefined): void {
  const given = Object.entries(domain).map(([name, value]) => `${name} ${typeof value}`);
  const allowed = Object.keys(DOMAIN_FIELDS).flatMap((name) =>
    name === 'chainId' ? ['chainId number', 'chainId string'] : [`${name} string`],
  );
  const wrong = given.find((each) => !allowed.includes(each));
  if (wrong !== undefined) throw invalid(`domain.${wrong} is not of EIP-712`);
  if (declared === undefined) return;
  const fields = Object.entries(DOMAIN_FIELDS).filter(([name]) => Object.hasOwn(domain, name));
  const expected = fields.map(([name, type]) => ({ name, type }));
  if (JSON.stringify(declared) !== JSON.stringify(expected))
    throw invalid(`types.EIP712Domain must be ${JSON.stringify(expected)}`);
}

function assertTypes(types: Readonly<Record<string, unknown>>, primaryType: string): void {
  const names = Object.keys(types);
  if (names.length > MAX_TYPES) throw invalid(`it has more than ${MAX_TYPES} types`);
  if (!Object.hasOwn(types, primaryType)) throw invalid('types has no primaryType');
  for (const [name, fields] of Object.entries(types)) {
    const isRight = NAME.test(name) && Array.isArray(fields) && fields.every(isField);
    if (!isRight) throw invalid(`types.${name.slice(0, 100)} is not a list of {name, type}`);
  }
}

function isField(field: unknown): field is TypedDataField {
  const { name, type } = (field ?? {}) as Readonly<Record<string, unknown>>;
  return typeof name === 'string' && NAME.test(name) && typeof type === 'string' && FIELD_TYPE.test(type);
}

/** Each value once, and only what the message itself has: ethers reads what every object inherits, too, and takes any value for a bool. */
function assertFields(value: unknown, type: string, types: Readonly<Record<string, readonly TypedDataField[]>>): void {
  const [, element, length] = /^(.*)\[(\d*)\]$/.exec(type) ?? [];
  if (element !== undefined) {
    if (!Array.isArray(value) || (length && value.length !== Number(length))) throw invalid(`it has no ${type}`);
    for (const item of value) assertFields(item, element, types);
    return;
  }
  const fields = Object.hasOwn(types, type) ? types[type] : undefined;
  if (fields === undefined) {
    if ((type === 'bool') !== (typeof value === 'boolean') || !isScalar(value)) throw invalid(`it has no ${type}`);
    return;
  }
  const names = fields.map(({ name }) => name).toSorted();
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || Object.keys(value).toSorted().join() !== names.join())
    throw invalid(`a ${type} does not have just ${names.join(', ')}`);
  for (const field of fields) assertFields((value as Record<string, unknown>)[field.name], field.type, types);
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

function invalid(why: string): InvalidInput {
  return new InvalidInput(
    'invalid_typed_data',
    `not typed data: ${why}`,
    'send domain, types, primaryType and message as eth_signTypedData_v4 takes them (EIP-712)',
  );
}
