import { describe, expect, it } from '@jest/globals';
import { encodeRlp, keccak256 } from 'ethers';
import { receiptsRoot } from '../../../src/modules/chain/infrastructure/receipts-root.js';

const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const BLOOM = `0x${'00'.repeat(256)}`;
const LOG = {
  address: `0x${'aa'.repeat(20)}`,
  topics: [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`],
  data: '0x1234',
};

const aReceipt = (index: number, change: Record<string, unknown> = {}) => ({
  type: '0x2',
  status: '0x1',
  cumulativeGasUsed: `0x${(21_000 * (index + 1)).toString(16)}`,
  logsBloom: BLOOM,
  logs: [] as unknown[],
  transactionIndex: `0x${index.toString(16)}`,
  ...change,
});

/** More than 127, where keys become two bytes long. */
const RECEIPTS = Array.from({ length: 130 }, (_, i) => aReceipt(i, i === 3 ? { logs: [LOG] } : {}));

const withChange = (index: number, change: Record<string, unknown>) =>
  RECEIPTS.map((each, i) => (i === index ? { ...each, ...change } : each));

/** A trie of one entry is one leaf: flag and key 0x80, then the value. */
const rootOfOne = (receipt: string): string => keccak256(encodeRlp(['0x2080', receipt]));

describe('the receipts root', () => {
  it('of a block without transactions is the well-known one', () => {
    expect(receiptsRoot([])).toBe(EMPTY_ROOT);
  });

  it.each([
    ['success', '0x1', '0x01'],
    ['revert', '0x0', '0x'],
  ])('of one legacy receipt of a %s is the hash of its RLP', (_, status, encoded) => {
    const payload = encodeRlp([encoded, '0x5208', BLOOM, [[LOG.address, LOG.topics, LOG.data]]]);
    expect(receiptsRoot([aReceipt(0, { type: '0x0', status, logs: [LOG] })])).toBe(rootOfOne(payload));
  });

  it.each([1, 2, 3, 4])('of one receipt of type %d has its type before its RLP', (type) => {
    const payload = encodeRlp(['0x01', '0x5208', BLOOM, []]);
    const expected = rootOfOne(`0x0${type}${payload.slice(2)}`);
    expect(receiptsRoot([aReceipt(0, { type: `0x${type}` })])).toBe(expected);
  });

  it('does not depend on how hex is spelled', () => {
    const upper = { logs: [{ ...LOG, address: `0x${'AA'.repeat(20)}` }] };
    expect(receiptsRoot(withChange(3, upper))).toBe(receiptsRoot(RECEIPTS));
  });

  it.each<[string, readonly unknown[]]>([
    ['a revert told as a success', withChange(2, { status: '0x0' })],
    ['a log less', withChange(3, { logs: [] })],
    ['another topic', withChange(3, { logs: [{ ...LOG, topics: LOG.topics.slice(1) }] })],
    ['other gas', withChange(129, { cumulativeGasUsed: '0x1' })],
    ['another bloom', withChange(0, { logsBloom: `0x01${BLOOM.slice(4)}` })],
    ['another type', withChange(128, { type: '0x0' })],
    ['a receipt less', RECEIPTS.slice(0, -1)],
    ['none at all', []],
  ])('is another one with %s', (_, receipts) => {
    expect(receiptsRoot(receipts)).toEqual(expect.stringMatching(/^0x[0-9a-f]{64}$/));
    expect(receiptsRoot(receipts)).not.toBe(receiptsRoot(RECEIPTS));
  });

  it.each<[string, readonly unknown[]]>([
    ['that come in another order', [...RECEIPTS].reverse()],
    ['of which one is missing in the middle', RECEIPTS.filter((_, i) => i !== 5)],
    ['of a type that has fields of its own', withChange(0, { type: '0x7e' })],
    ['without a type', withChange(0, { type: undefined })],
    ['without a status', withChange(0, { status: undefined, root: `0x${'33'.repeat(32)}` })],
    ['without cumulative gas', withChange(0, { cumulativeGasUsed: null })],
    ['without a bloom', withChange(0, { logsBloom: undefined })],
    ['with a short bloom', withChange(0, { logsBloom: '0x00' })],
    ['without logs', withChange(0, { logs: null })],
    ['with a log without data', withChange(0, { logs: [{ ...LOG, data: undefined }] })],
    ['with a log of half a byte', withChange(0, { logs: [{ ...LOG, data: '0x123' }] })],
    ['with a log that is no hex', withChange(0, { logs: [{ ...LOG, data: '0x12zz' }] })],
    ['with a short topic', withChange(0, { logs: [{ ...LOG, topics: ['0x11'] }] })],
    ['that are no objects', ['0x']],
  ])('is not to be had of receipts %s', (_, receipts) => {
    expect(receiptsRoot(receipts)).toBeNull();
  });
});
