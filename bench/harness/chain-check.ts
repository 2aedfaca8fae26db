import { countByInput, readChain } from '../../test/support/chain-reader.js';
import { callData } from './payload.js';

/** @throws unless every payload from number 0 on was executed exactly once, and nothing else was */
export async function expectEachOnce(chainUrl: string, transactions: number): Promise<void> {
  const counts = countByInput(await readChain(chainUrl));
  const expected = Array.from({ length: transactions }, (_, n) => callData(n));
  const never = expected.filter((input) => !counts.has(input)).length;
  const twice = [...counts.values()].filter((count) => count > 1).length;
  if (never > 0 || twice > 0 || counts.size !== transactions)
    throw new Error(
      `of ${transactions} payloads ${never} were never executed and ${twice} more than once; ${counts.size} on chain`,
    );
}
