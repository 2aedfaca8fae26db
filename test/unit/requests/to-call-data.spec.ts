import { describe, expect, it } from '@jest/globals';
import { toCallData } from '../../../src/modules/requests/infrastructure/http/to-call-data.js';
import { anAddress, DEV_CHAIN } from '../../support/builders.js';

const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const ROOTSTOCK = 30;

const read = (signature: string, ...args: readonly unknown[]) =>
  toCallData({ function: signature, args: [...args] }, DEV_CHAIN).data;
const NO_WORD = `0x${'00'.repeat(32)}`;
const word = (digits: string): string => digits.padStart(64, '0');
const afterwards = (digits: string): string => digits.padEnd(64, '0');

describe('a call', () => {
  it('of a token is the data that `cast calldata` makes', () => {
    const words = [word(TO.slice(2).toLowerCase()), word('3e8')];
    const expected = `0xa9059cbb${words.join('')}`;
    expect(read('transfer(address,uint256)', TO, '1000')).toBe(expected);
    expect(read('function transfer(address to, uint amount) returns (bool)', TO.toLowerCase(), 1_000)).toBe(expected);
    expect(read('transfer(address,uint256)', TO, '0x3e8')).toBe(expected);
  });

  it('has arguments of every kind, as `cast calldata` encodes them', () => {
    const tuples = [
      [TO, ['1', 2]],
      [TOKEN, []],
    ];
    const signature = 'f(bool,int8,bytes,string,(address,uint16[])[2],bytes4)';
    const rest = [
      ...['1', 'f'.repeat(63) + 'b', 'c0', '100', '140'].map(word),
      ...[afterwards('01020304'), word('2'), afterwards('abcd'), word('3'), afterwards('68c3a9')],
      ...['40', 'e0', TO.slice(2).toLowerCase(), '40', '2', '1', '2', TOKEN.slice(2).toLowerCase(), '40', '0'].map(
        word,
      ),
    ];
    expect(read(signature, true, '-5', '0xabcd', 'hé', tuples, '0x01020304')).toBe(`0x924e576c${rest.join('')}`);
  });

  it('without arguments is the selector', () => {
    expect(toCallData({ function: 'pause()' }, DEV_CHAIN).data).toBe('0x8456cb59');
  });

  it('may be as large as a call is without being slow', () => {
    expect(read('f(bytes[][][][][][])', [[[[[['0xab']]]]]])).toHaveLength(2 + 2 * (4 + 15 * 32));
    expect(read('f(uint256[])', new Array(480).fill('1'))).toHaveLength(2 + 2 * (4 + 482 * 32));
    expect(read('f(bytes)', `0x${'ab'.repeat(32_000)}`)).toContain('ab'.repeat(32_000));
  });

  it('names addresses as its chain writes them', () => {
    // EIP-1191 on chain 30, from its examples.
    const address = '0x5aaEB6053f3e94c9b9a09f33669435E7ef1bEAeD';
    expect(toCallData({ function: 'f(address)', args: [address] }, ROOTSTOCK).data).toContain(
      address.slice(2).toLowerCase(),
    );
    expect(() => read('f(address)', address)).toThrow(expect.objectContaining({ code: 'invalid_checksum' }));
  });

  it.each<[string, string, readonly unknown[], RegExp]>([
    ['no function', 'transfer', [], /"transfer" is not a name with types/],
    ['an event', 'event f(uint8)', [], /is not a name with types/],
    ['a type that does not exist', 'f(uint7)', ['1'], /is not a name with types/],
    ['the name of a contract for a type', 'f(Token)', [TO], /is not a name with types/],
    ['too few arguments', 'f(uint8,uint8)', ['1'], /it has 1 arguments for 2 types/],
    ['too many', 'f()', ['1'], /it has 1 arguments for 0 types/],
    ['a text for a bool', 'f(bool)', ['false'], /bool expected in argument 1/],
    ['a number for a bool', 'f(bool)', [1], /bool expected in argument 1/],
    ['null', 'f(uint8)', [null], /uint8 expected in argument 1/],
    ['a number that is out of range', 'f(uint8)', ['256'], /payload\.call: value out-of-bounds/],
    ['a negative one', 'f(uint8)', ['-1'], /payload\.call: value out-of-bounds/],
    ['a number that JSON does not hold', 'f(uint256)', [2 ** 53], /: uint256 expected in/],
    ['a number with a point', 'f(uint256)', ['1.0'], /: uint256 expected in/],
    ['a text that is empty', 'f(uint256)', [''], /: uint256 expected in/],
    ['true', 'f(uint256)', [true], /: uint256 expected in/],
    ['a name for an address', 'f(address)', ['vitalik.eth'], /: address expected in/],
    ['another spelling of one', 'f(address)', [`XE${anAddress(1).slice(2, 34)}`], /: address expected in/],
    ['bytes of another length', 'f(bytes4)', ['0x0102'], /payload\.call: incorrect data length/],
    ['half a byte', 'f(bytes)', ['0x1'], /: bytes expected in/],
    ['a list of another length', 'f(uint8[2])', [['1']], /: uint8\[2\] expected in/],
    ['no list', 'f((uint8,bool)[])', ['1'], /: tuple\(uint8,bool\)\[\] expected in/],
    ['an object for a tuple', 'f((uint8 a))', [{ a: '1' }], /: tuple\(uint8\) expected in/],
    ['a wrong one deep inside', 'f((uint8[],bool)[])', [[[['1', 'a'], true]]], /uint8 expected in argument 1/],
    ['more values than may be', 'f(uint8[])', [new Array(500).fill('1')], /more than 500 values/],
    ['a list that is too short', 'f(uint8[999999999999])', [[]], /: uint8\[999999999999\] expected in/],
    ['more bytes than may be', 'f(bytes)', [`0x${'00'.repeat(32 * 1_024)}`], /more than 32768 bytes/],
    ['more bytes of text', 'f(string)', ['é'.repeat(16 * 1_024)], /more than 32768 bytes/],
    ['more bytes of all its values', 'f(string[])', [new Array(400).fill('a'.repeat(32))], /more than 32768 bytes/],
    ['lists that are too deep', 'f(bytes[][][][][][][])', [[[[[[[['0x']]]]]]]], /lists that are more than 6 deep/],
    ['too many brackets', `f(${'('.repeat(32)}uint8${')'.repeat(32)})`, [], /more than 32 brackets/],
    ['a type that has a zero before its size', 'f(uint08)', ['1'], /is not a name with types/],
    ['such a type in a tuple', 'f((bytes01,bool)[])', [[]], /is not a name with types/],
  ])('is refused with %s', (_what, signature, args, message) => {
    expect(() => read(signature, ...args)).toThrow(
      expect.objectContaining({ code: 'invalid_call', message: expect.stringMatching(message) }),
    );
  });
});

describe('a part of a permit', () => {
  const part = (name: string, permit: unknown = 0) => ({ $permit: permit, part: name });
  const call = (signature: string, args: readonly unknown[], permits = 1) =>
    toCallData({ function: signature, args: [...args] }, DEV_CHAIN, permits);

  it('is found where the function takes it, in the bytes of its type', () => {
    const args = ['1', part('deadline'), part('v'), part('r'), part('s')];
    const { data, places } = call('permitted(uint256,uint256,uint8,bytes32,bytes32)', args);
    expect(data).toBe(
      read('permitted(uint256,uint256,uint8,bytes32,bytes32)', '1', 0, 0, ...new Array(2).fill(NO_WORD)),
    );
    expect(places).toEqual([
      [
        { part: 'deadline', at: 4 + 32, bytes: 32 },
        { part: 'v', at: 4 + 3 * 32 - 1, bytes: 1 },
        { part: 'r', at: 4 + 3 * 32, bytes: 32 },
        { part: 's', at: 4 + 4 * 32, bytes: 32 },
      ],
    ]);
  });

  it('is found in bytes, in tuples and in lists, and more than once', () => {
    const signature = 'f((address,uint48,uint256)[],bytes,string,uint256[2])';
    const tuples = [
      [TO, '7', '8'],
      [TO, part('nonce'), part('nonce', 1)],
    ];
    const { data, places } = call(signature, [tuples, part('signature', 1), 'text', ['5', part('nonce', 1)]], 3);
    const [first, second] = [
      [TO, '7', '8'],
      [TO, 0, 0],
    ];
    expect(data).toBe(read(signature, [first, second], `0x${'00'.repeat(65)}`, 'text', ['5', 0]));
    const list = 4 + 5 * 32;
    const own = list + (1 + 3 + 1) * 32;
    expect(places).toEqual([
      [{ part: 'nonce', at: own + 32 - 6, bytes: 6 }],
      [
        { part: 'nonce', at: own + 32, bytes: 32 },
        { part: 'signature', at: own + 3 * 32, bytes: 65 },
        { part: 'nonce', at: 4 + 4 * 32, bytes: 32 },
      ],
      [],
    ]);
  });

  it('has a place of its own beside another one, also where all are alike', () => {
    const { places } = call('f(bytes32[])', [new Array(32).fill(part('r'))]);
    expect(places[0]?.map(({ at }) => at)).toEqual(Array.from({ length: 32 }, (_, index) => 4 + (2 + index) * 32));
    expect(places[0]?.every(({ bytes }) => bytes === 32)).toBe(true);
  });

  it.each<[string, string, unknown, RegExp]>([
    ['of no permit of the request', 'uint8', part('v', 1), /refers to permit 1, and payload\.permits has 1$/],
    ['of a permit before the first', 'uint8', part('v', -1), /refers to permit -1/],
    ['of half a permit', 'uint8', part('v', 0.5), /refers to permit 0\.5/],
    ['of a permit that is no number', 'uint8', part('v', '0'), /uint8 expected in argument 1/],
    ['that no permit has', 'uint8', part('w'), /uint8 expected in argument 1/],
    ['with more than these', 'uint8', { ...part('v'), x: 1 }, /uint8 expected in argument 1/],
    ['with less', 'uint8', { part: 'v' }, /uint8 expected in argument 1/],
    ['for a number with a sign', 'int256', part('deadline'), /is int256, and no deadline of a permit/],
    ['for a number that is too small', 'uint32', part('deadline'), /is uint32, and no deadline of a permit/],
    ['a nonce for a number that is too small', 'uint40', part('nonce'), /is uint40, and no nonce of a permit/],
    ['for the bytes of another length', 'bytes31', part('r'), /is bytes31, and no r of a permit/],
    ['for a text', 'string', part('signature'), /is string, and no signature of a permit/],
    ['for an address', 'address', part('v'), /is address, and no v of a permit/],
    ['for a tuple', '(uint8)', part('v'), /tuple\(uint8\) expected in argument 1/],
    ['for a list', 'uint8[]', part('v'), /uint8\[\] expected in argument 1/],
  ])('is refused %s', (_what, type, value, message) => {
    expect(() => call(`f(${type})`, [value])).toThrow(
      expect.objectContaining({ code: 'invalid_call', message: expect.stringMatching(message) }),
    );
  });

  it('may be in a call of half the usual size only, which is encoded twice', () => {
    const bytes = (count: number): string => `0x${'ab'.repeat(count)}`;
    expect(() => call('f(bytes,bytes32)', [bytes(16_000), part('r')])).not.toThrow();
    expect(() => call('f(bytes,bytes32)', [bytes(16_384), part('r')])).toThrow(/more than 16384 bytes/);
    expect(() => call('f(bytes)', [bytes(16_384)], 0)).not.toThrow();
  });

  it('may not be in a call too often', () => {
    expect(() => call('f(bytes32[])', [new Array(33).fill(part('r'))])).toThrow(/more than 32 parts of permits/);
  });
});
