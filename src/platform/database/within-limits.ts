import type { CallerLimits } from '../../kernel/caller.js';
import { type ChainId, signerKey } from '../../kernel/signer-id.js';

/**
 * The condition that keeps rows to signers that a caller may use. Signers are compared as text, so that no index of them is taken for another order.
 * @param signers, chainIds parameters with {@link limitValues}
 */
export function withinLimits(chainId: string, signer: string, signers: string, chainIds: string): string {
  const ofSigner = `${signers}::text[] IS NULL OR ${chainId} || ':' || ${signer} = ANY(${signers})`;
  return `(${ofSigner}) AND (${chainIds}::bigint[] IS NULL OR ${chainId} = ANY(${chainIds}))`;
}

export function limitValues({
  signers,
  chainIds,
}: CallerLimits): [readonly string[] | null, readonly ChainId[] | null] {
  return [signers?.map(signerKey) ?? null, chainIds];
}
