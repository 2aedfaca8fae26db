import type { PermitNonceQuestion } from '../domain/chain-connector.js';
import type { RpcReader } from './rpc/rpc-reader.js';

/** `nonces(address)`, and the zeros before its argument. */
const NONCES_OF = `0x7ecebe00${'0'.repeat(24)}`;
/** A number, and nothing else: other contracts answer with something, too. */
const WORD = /^0x[0-9a-f]{64}$/i;

/** What a contract is, nobody knows: one that does not answer with a number says nothing, and fails no other question. */
export async function permitNonces(
  rpc: RpcReader,
  questions: readonly PermitNonceQuestion[],
): Promise<(bigint | null)[]> {
  const calls = questions.map(({ contract, owner }) => [{ to: contract, data: NONCES_OF + owner.slice(2) }, 'latest']);
  const replies = await rpc.replies('eth_call', calls);
  return questions.map((_, index) => {
    const reply = replies[index];
    const value = reply?.kind === 'result' ? reply.value : null;
    return typeof value === 'string' && WORD.test(value) ? BigInt(value) : null;
  });
}
