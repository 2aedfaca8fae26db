import { expect, it } from '@jest/globals';
import { agreedPermitNonces, permitNonces } from '../../../src/modules/chain/infrastructure/permit-nonces.js';
import type { RpcReply } from '../../../src/modules/chain/infrastructure/rpc/json-rpc.js';
import type { RpcPool } from '../../../src/modules/chain/infrastructure/rpc/rpc-pool.js';
import type { Params, RpcReader } from '../../../src/modules/chain/infrastructure/rpc/rpc-reader.js';
import { anAddress } from '../../support/builders.js';

const [CONTRACT, OWNER] = [anAddress(0x70), anAddress(0xabc)];
const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;
const result = (value: unknown): RpcReply => ({ kind: 'result', value });

it('the nonce of an owner at a contract is what nonces(address) returns, and nothing else counts', async () => {
  const asked: [string, readonly Params[]][] = [];
  const replies = [
    ...[word(7n), word((1n << 256n) - 1n), '0x', '0x07', `${word(7n)}00`, 7, null].map(result),
    { kind: 'error', error: { code: 3, message: 'execution reverted' } } as RpcReply,
  ];
  const rpc = {
    replies: async (method: string, params: readonly Params[]) => (asked.push([method, params]), replies),
  } as unknown as RpcReader;
  const questions = replies.map(() => ({ contract: CONTRACT, owner: OWNER }));
  const nobody = { contract: CONTRACT, owner: OWNER };
  expect(await permitNonces(rpc, [...questions, nobody])).toEqual([
    ...[7n, (1n << 256n) - 1n],
    ...new Array(7).fill(null),
  ]);
  const data = `0x7ecebe00${'0'.repeat(61)}abc`;
  expect(asked).toEqual([['eth_call', new Array(9).fill([{ to: CONTRACT, data }, 'latest'])]]);
});

it('the endpoints agree on the nonce of an owner when those that do not lag tell the same', async () => {
  const asked: unknown[] = [];
  const silent = { kind: 'error', error: { code: 3, message: 'execution reverted' } } as RpcReply;
  const answersTo = async (
    ...told: readonly { readonly replies: readonly RpcReply[]; readonly isCurrent: boolean }[]
  ) => {
    const pool = { answers: async (...question: unknown[]) => (asked.push(question), told) } as unknown as RpcPool;
    return agreedPermitNonces(pool, [{ contract: CONTRACT, owner: OWNER }]);
  };
  const answer = (value: bigint, isCurrent = true) => ({ replies: [result(word(value))], isCurrent });
  expect(await answersTo(answer(7n), answer(7n))).toEqual([{ value: 7n, isAlone: false }]);
  expect(asked).toEqual([
    [
      'judge_permit',
      [{ method: 'eth_call', params: [{ to: CONTRACT, data: `0x7ecebe00${'0'.repeat(61)}abc` }, 'latest'] }],
    ],
  ]);
  expect(await answersTo(answer(7n), answer(8n))).toEqual([null]);
  expect(await answersTo(answer(7n), answer(6n, false))).toEqual([{ value: 7n, isAlone: true }]);
  expect(await answersTo(answer(7n), { replies: [silent], isCurrent: true })).toEqual([{ value: 7n, isAlone: true }]);
  expect(await answersTo({ replies: [silent], isCurrent: true })).toEqual([null]);
  asked.length = 0;
  expect(await agreedPermitNonces({} as RpcPool, [])).toEqual([]);
});
