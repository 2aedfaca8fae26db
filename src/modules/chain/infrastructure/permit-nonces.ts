import type { PermitNonceQuestion } from '../domain/chain-connector.js';
import { type Agreed, agreedUpon } from '../domain/evidence.js';
import type { RpcReply } from './rpc/json-rpc.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import type { RpcReader } from './rpc/rpc-reader.js';

/** `nonces(address)`, and the zeros before its argument. */
const NONCES_OF = `0x7ecebe00${'0'.repeat(24)}`;
/** A number, and nothing else: other contracts answer with something, too. */
const WORD = /^0x[0-9a-f]{64}$/i;

const callsOf = (questions: readonly PermitNonceQuestion[]): [object, string][] =>
  questions.map(({ contract, owner }) => [{ to: contract, data: NONCES_OF + owner.slice(2) }, 'latest']);

/** What a contract is, nobody knows: one that does not answer with a number says nothing, and fails no other question. */
export async function permitNonces(
  rpc: RpcReader,
  questions: readonly PermitNonceQuestion[],
): Promise<(bigint | null)[]> {
  const replies = await rpc.replies('eth_call', callsOf(questions));
  return questions.map((_, index) => nonceIn(replies[index]));
}

/** Null also where the endpoints do not agree: one may lag, or tell any number. */
export async function agreedPermitNonces(
  pool: RpcPool,
  questions: readonly PermitNonceQuestion[],
): Promise<(Agreed<bigint> | null)[]> {
  if (questions.length === 0) return [];
  const requests = callsOf(questions).map((params) => ({ method: 'eth_call', params }));
  const answers = await pool.answers('judge_permit', requests);
  return questions.map((_, index) => {
    const told = answers.map(({ replies, isCurrent }) => (isCurrent ? nonceIn(replies[index]) : null));
    return agreedUpon('judge_permit', told);
  });
}

function nonceIn(reply: RpcReply | undefined): bigint | null {
  const value = reply?.kind === 'result' ? reply.value : null;
  return typeof value === 'string' && WORD.test(value) ? BigInt(value) : null;
}
