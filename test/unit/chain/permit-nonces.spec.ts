import { expect, it } from '@jest/globals';
import { permitNonces } from '../../../src/modules/chain/infrastructure/permit-nonces.js';
import type { RpcReply } from '../../../src/modules/chain/infrastructure/rpc/json-rpc.js';
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
