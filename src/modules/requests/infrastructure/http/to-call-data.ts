import { AbiCoder, FunctionFragment, isError, type ParamType } from 'ethers';
import { InvalidInput } from '../../../../kernel/errors.js';
import { type Hex, parseHex } from '../../../../kernel/hex.js';
import type { ChainId } from '../../../../kernel/signer-id.js';
import { MAX_CALL_DEPTH } from '../../../../platform/http/call-value.js';
import { clientAddress } from '../../../../platform/http/client-address.js';
import { type CallDto, MAX_CALL_VALUES } from './create-tx.dto.js';

/*
 * ethers copies all data at each level of lists that holds it, and reads a function in a time that grows with the square of its brackets: within these
 * bounds and MAX_CALL_DEPTH a call takes at most some 35 ms.
 */
const MAX_BYTES = 32 * 1_024;
const MAX_BRACKETS = 32;
const WORD_BYTES = 32;
const INTEGER = /^(?:-?(?:0|[1-9]\d{0,77})|0x[0-9a-fA-F]{1,64})$/;

/**
 * Call data of a function with its arguments (Solidity ABI).
 * @throws InvalidInput `invalid_call`, and what is wrong with an address
 */
export function toCallData(call: CallDto, chainId: ChainId): Hex {
  const called = functionOf(call.function);
  const args = new Arguments(chainId).read(call.args ?? [], called.inputs);
  return parseHex(called.selector + encoded(called.inputs, args).slice(2));
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
  private count = 0;
  private bytes = 0;
  /** The argument that is read, from 1 on. */
  private place = 0;

  constructor(private readonly chainId: ChainId) {}

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
    if (this.bytes > MAX_BYTES) throw invalid(`it has more than ${MAX_BYTES} bytes`);
    if (depth > MAX_CALL_DEPTH) throw invalid(`it has lists that are more than ${MAX_CALL_DEPTH} deep`);
    if (type.isTuple()) {
      const items = this.list(value, type);
      return type.components.map((component, index) => this.value(items[index], component, depth + 1));
    }
    if (type.isArray()) return this.list(value, type).map((item) => this.value(item, type.arrayChildren, depth + 1));
    if (!isOf(type.type, value)) throw this.notOf(type);
    return type.type === 'address' ? clientAddress(String(value), this.chainId) : value;
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

function isOf(type: string, value: unknown): boolean {
  if (type === 'bool') return typeof value === 'boolean';
  if (/^u?int/.test(type)) return typeof value === 'number' ? Number.isSafeInteger(value) : isText(value, INTEGER);
  if (type === 'address') return isText(value, /^0x[0-9a-fA-F]{40}$/);
  return isText(value, type.startsWith('bytes') ? /^0x(?:[0-9a-fA-F]{2})*$/ : /^/);
}

const isText = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value);

function invalid(why: string): InvalidInput {
  return new InvalidInput(
    'invalid_call',
    `payload.call: ${why}`,
    'send the function with its types, such as transfer(address,uint256), and an argument for each: text, true or false, a safe integer, or a list for arrays and tuples',
  );
}
