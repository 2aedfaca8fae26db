import { Unavailable } from '../../../kernel/errors.js';
import type { ChainId } from '../../../kernel/signer-id.js';

export type RpcUnavailableCode =
  /** No endpoint answered. */
  | 'rpc_unavailable'
  /** The answer of an endpoint does not have the format of the method. */
  | 'rpc_malformed_answer'
  /** Every endpoint serves another chain. */
  | 'rpc_wrong_chain';

/** No usable answer from a chain. It must never be read as "no receipt" or "not sent". */
export class RpcUnavailable extends Unavailable {
  /** `detail` must not name a URL: keys live in paths. */
  constructor(
    code: RpcUnavailableCode,
    where: { readonly chainId: ChainId; readonly method: string },
    detail: string,
    readonly isRateLimit = false,
  ) {
    super(
      code,
      `chain ${where.chainId}, ${where.method}: ${detail}`,
      'try again; when it lasts, check the RPC endpoints of this chain',
      {
        chainId: where.chainId,
        method: where.method,
      },
    );
  }
}
