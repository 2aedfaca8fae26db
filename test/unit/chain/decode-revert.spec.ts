import { describe, expect, it } from '@jest/globals';
import { AbiCoder } from 'ethers';
import fc from 'fast-check';
import { decodeRevert } from '../../../src/modules/chain/infrastructure/decode-revert.js';

const abi = AbiCoder.defaultAbiCoder();
const errorString = (text: string) => `0x08c379a0${abi.encode(['string'], [text]).slice(2)}`;
const panic = (code: number) => `0x4e487b71${abi.encode(['uint256'], [code]).slice(2)}`;
const reverted = (data: unknown, message = 'execution reverted') => decodeRevert({ code: 3, message, data });

describe('the reason of a revert', () => {
  it('is the text of Error(string)', () => {
    expect(reverted(errorString('ERC20: transfer amount exceeds balance'))).toBe(
      'ERC20: transfer amount exceeds balance',
    );
  });

  it.each([
    [0x01, 'panic 0x01: assertion failed'],
    [0x11, 'panic 0x11: arithmetic overflow or underflow'],
    [0x12, 'panic 0x12: division or modulo by zero'],
    [0x32, 'panic 0x32: array index out of bounds'],
    [0x99, 'panic 0x99: unknown code'],
  ])('is the meaning of Panic(%d)', (code, expected) => expect(reverted(panic(code))).toBe(expected));

  it('is the selector of a custom error', () =>
    expect(reverted(`0xe450d38c${'0'.repeat(192)}`)).toBe('custom error 0xe450d38c'));

  it.each([
    ['hardhat', { message: 'Error', data: errorString('nope') }],
    ['parity', `Reverted ${errorString('nope')}`],
    ['upper case', errorString('nope').toUpperCase().replace('0X', '0x')],
  ])('is found where %s puts it', (_client, data) => expect(reverted(data)).toBe('nope'));

  it.each([
    ['execution reverted: not the owner', 'not the owner'],
    ["VM Exception while processing transaction: reverted with reason string 'nope'", 'nope'],
    ['Error: Transaction reverted without a reason string', 'no reason given'],
    ['execution reverted', 'no reason given'],
    ['EVM error InvalidFEOpcode', 'EVM error InvalidFEOpcode'],
  ])('without data is what the node says: %s', (message, expected) => expect(reverted('0x', message)).toBe(expected));

  it.each(['0x08c379a0', '0x12345678'])('may come with megabytes of data, here %s', (selector) => {
    expect(reverted(selector + 'ab'.repeat(8_000_000))).toMatch(/Error\(string\) that|custom error 0x12345678/);
    expect(reverted({ data: selector + 'ab'.repeat(8_000_000) })).toMatch(
      /Error\(string\) that|custom error 0x12345678/,
    );
  });

  it('is that of the node when its data is in very many objects', () => {
    let data: unknown = '0x12345678';
    for (let depth = 0; depth < 100_000; depth += 1) data = { data };
    expect(reverted(data, 'execution reverted: deep')).toBe('deep');
  });

  it('never throws, is never long, and can be stored: no control characters', () => {
    const hostile = fc.oneof(
      fc.uint8Array({ maxLength: 400 }).map((bytes) => `0x08c379a0${Buffer.from(bytes).toString('hex')}`),
      fc.uint8Array({ maxLength: 400 }).map((bytes) => `0x4e487b71${Buffer.from(bytes).toString('hex')}`),
      fc.string({ maxLength: 2_000 }).map((text) => errorString(`\u0000${text}`)),
      fc.anything(),
    );
    fc.assert(
      fc.property(hostile, (data) => {
        const reason = reverted(data);
        expect(reason.length).toBeLessThanOrEqual(500);

        expect(reason).not.toMatch(/[\u0000-\u001f]/);
      }),
    );
  });
});
