import { AbiCoder, FunctionFragment, isError, type ParamType } from 'ethers';
import { InvalidInput } from '../../../../kernel/errors.js';
import { type Address, type Hex, parseHex } from '../../../../kernel/hex.js';
import type { ChainId } from '../../../../kernel/signer-id.js';
import { MAX_CALL_DEPTH } from '../../../../platform/http/call-value.js';
import { clientAddress } from '../../../../platform/http/client-address.js';
import { PERMIT_PARTS, type PermitPart, type PermitPlace } from '../../../ledger/index.js';
import { type CallDto, MAX_CALL_VALUES } from './create-tx.dto.js';

/*
 * ethers copies all data at each level of lists that holds it, and reads a function in a time that grows with the square of its brackets: within these
 * bounds and MAX_CALL_DEPTH a call takes at most some 35 ms. One with permits is encoded twice.
 */
const MAX_BYTES = 32 * 1_024;
const MAX_BYTES_WITH_PERMITS = MAX_BYTES / 2;
const MAX_BRACKETS = 32;
const WORD_BYTES = 32;
const SIGNATURE_BYTES = 65;
/** Each has a byte of its own while their places are looked for. */
const MAX_REFERENCES = 32;
const INTEGER = /^(?:-?(?:0|[1-9]\d{0,77})|0x[0-9a-fA-F]{1,64})$/;

export interface CallData {
  /** With zeros in the places of permits. */
  readonly data: Hex;
  /** The places of each permit. */
  readonly places: readonly (readonly PermitPlace[])[];
  /** All that are in its arguments. */
  readonly addresses: readonly Address[];
}

/** An argument that is a part of a permit, which is not known yet. */
class Reference {
  constructor(
    readonly permit: number,
    readonly part: PermitPart,
    private readonly type: string,
  ) {}

  /** Of the length that the part will have, with the same byte everywhere. */
  filledWith(byte: number): string {
    return `0x${byte.toString(16).padStart(2, '0').repeat(this.bytes)}`;
  }

  private get bytes(): number {
    if (this.part === 'signature') return SIGNATURE_BYTES;
    return this.part === 'r' || this.part === 's' ? WORD_BYTES : bitsOf(this.type) / 8;
  }
}

/**
 * Call data of a function with its arguments (Solidity ABI).
 * @param permits how many permits the arguments may refer to
 * @throws InvalidInput `invalid_call`, and what is wrong with an address
 */
export function toCallData(call: CallDto, chainId: ChainId, permits = 0): CallData {
  const called = functionOf(call.function);
  const args = new Arguments(chainId, permits);
  const values = args.read(call.args ?? [], called.inputs);
  const dataWith = (byteOf: (reference: Reference) => number): Hex =>
    parseHex(called.selector + encoded(called.inputs, filled(values, byteOf)).slice(2));
  const data = dataWith(() => 0);
  const { references, addresses } = args;
  const marked = references.length === 0 ? data : dataWith((each) => references.indexOf(each) + 1);
  const found = placesIn(marked, data, references);
  const ofPermit = (index: number): PermitPlace[] => found.filter((_, at) => references[at]?.permit === index);
  return { data, places: Array.from({ length: permits }, (_, index) => ofPermit(index)), addresses };
}

/** Encoded with another byte for each: what is zero in the data is where its byte is now. */
function placesIn(marked: Hex, zeroed: Hex, references: readonly Reference[]): PermitPlace[] {
  const [bytes, before] = [marked, zeroed].map((data) => Buffer.from(data.slice(2), 'hex')) as [Buffer, Buffer];
  const places = references.map(({ part }) => ({ part, at: 0, bytes: 0 }));
  for (let at = bytes.length - 1; at >= 0; at -= 1) {
    const place = bytes[at] === before[at] ? undefined : places[(bytes[at] ?? 0) - 1];
    if (place) Object.assign(place, { at, bytes: place.bytes + 1 });
  }
  return places;
}

function filled(values: readonly unknown[], byteOf: (reference: Reference) => number): unknown[] {
  return values.map((value) => {
    if (value instanceof Reference) return value.filledWith(byteOf(value));
    return Array.isArray(value) ? filled(value, byteOf) : value;
  });
}

function functionOf(text: string): FunctionFragment {
  if ((text.match(/[([]/g) ?? []).length > MAX_BRACKETS) throw invalid(`it has more than ${MAX_BRACKETS} brackets`);
  const called = parsed(text);
  // ethers reads `uint08` as a type, and gives it a selector that no function has.
  if (called === null || /(?:int|bytes)0/.test(called.format()))
    throw invalid(`function ${JSON.stringify(text)} is not a name with types`);
  return called;
}

function parsed(text: string): FunctionFragment | null {
  try {
    return FunctionFragment.from(text);
  } catch {
    return null;
  }
}

function encoded(types: readonly ParamType[], args: readonly unknown[]): string {
  try {
    return AbiCoder.defaultAbiCoder().encode(types, args);
  } catch (error) {
    // Of the range or the length that is in the type: `uint8`, `bytes4`.
    throw invalid(isError(error, 'INVALID_ARGUMENT') ? error.shortMessage.slice(0, 200) : 'it cannot be encoded');
  }
}

/** Values as JSON has them. ethers would take any value for a bool, and names and other spellings for an address. */
class Arguments {
  readonly references: Reference[] = [];
  readonly addresses: Address[] = [];
  private count = 0;
  private bytes = 0;
  /** The argument that is read, from 1 on. */
  private place = 0;

  constructor(
    private readonly chainId: ChainId,
    private readonly permits: number,
  ) {}

  read(values: readonly unknown[], types: readonly ParamType[]): readonly unknown[] {
    if (values.length !== types.length) throw invalid(`it has ${values.length} arguments for ${types.length} types`);
    return types.map((type, index) => {
      this.place = index + 1;
      return this.value(values[index], type);
    });
  }

  private value(value: unknown, type: ParamType, depth = 0): unknown {
    this.count += 1;
    this.bytes += bytesOf(value, type);
    if (this.count > MAX_CALL_VALUES) throw invalid(`it has more than ${MAX_CALL_VALUES} values`);
    const most = this.permits === 0 ? MAX_BYTES : MAX_BYTES_WITH_PERMITS;
    if (this.bytes > most) throw invalid(`it has more than ${most} bytes`);
    if (depth > MAX_CALL_DEPTH) throw invalid(`it has lists that are more than ${MAX_CALL_DEPTH} deep`);
    if (type.isTuple()) {
      const items = this.list(value, type);
      return type.components.map((component, index) => this.value(items[index], component, depth + 1));
    }
    if (type.isArray()) return this.list(value, type).map((item) => this.value(item, type.arrayChildren, depth + 1));
    if (isObject(value)) return this.reference(value, type);
    if (!isOf(type.type, value)) throw this.notOf(type);
    if (type.type !== 'address') return value;
    const address = clientAddress(String(value), this.chainId);
    this.addresses.push(address);
    return address;
  }

  private reference({ $permit: permit, part: name, ...others }: Record<string, unknown>, type: ParamType): Reference {
    const part = PERMIT_PARTS.find((each) => each === name);
    if (typeof permit !== 'number' || part === undefined || Object.keys(others).length > 0) throw this.notOf(type);
    if (!Number.isInteger(permit) || permit < 0 || permit >= this.permits)
      throw invalid(`argument ${this.place} refers to permit ${permit}, and payload.permits has ${this.permits}`);
    if (!takes(type.type, part)) throw invalid(`argument ${this.place} is ${type.type}, and no ${part} of a permit`);
    const reference = new Reference(permit, part, type.type);
    if (this.references.push(reference) > MAX_REFERENCES)
      throw invalid(`it has more than ${MAX_REFERENCES} parts of permits`);
    return reference;
  }

  private list(value: unknown, type: ParamType): readonly unknown[] {
    const length = type.isTuple() ? type.components.length : type.arrayLength;
    const isOpen = length === null || length < 0;
    if (Array.isArray(value) && (isOpen || value.length === length)) return value;
    throw this.notOf(type);
  }

  private notOf({ type }: ParamType): InvalidInput {
    return invalid(`${type} expected in argument ${this.place}`);
  }
}

/** Without those of the items of a list. */
function bytesOf(value: unknown, { type, baseType }: ParamType): number {
  // Where it is, and how long.
  if (baseType === 'array' || baseType === 'tuple') return 2 * WORD_BYTES;
  if (type === 'bytes') return 2 * WORD_BYTES + String(value).length / 2;
  return type === 'string' ? 2 * WORD_BYTES + Buffer.byteLength(String(value)) : WORD_BYTES;
}

/** Whether every value of the part fits: a nonce of a token is a count, and a deadline is a time. */
function takes(type: string, part: PermitPart): boolean {
  if (part === 'signature') return type === 'bytes';
  if (part === 'r' || part === 's') return type === 'bytes32';
  const least = { v: 8, deadline: 40, nonce: 48 }[part];
  return type.startsWith('uint') && bitsOf(type) >= least;
}

function bitsOf(type: string): number {
  return Number(type.slice('uint'.length));
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'bool') return typeof value === 'boolean';
  if (/^u?int/.test(type)) return typeof value === 'number' ? Number.isSafeInteger(value) : isText(value, INTEGER);
  if (type === 'address') return isText(value, /^0x[0-9a-fA-F]{40}$/);
  return isText(value, type.startsWith('bytes') ? /^0x(?:[0-9a-fA-F]{2})*$/ : /^/);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value);

function invalid(why: string): InvalidInput {
  return new InvalidInput(
    'invalid_call',
    `payload.call: ${why}`,
    'send the function with its types, such as transfer(address,uint256), and an argument for each: text, true or false, a safe integer, or a list for arrays and tuples',
  );
}
