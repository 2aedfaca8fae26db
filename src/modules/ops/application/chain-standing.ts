import { Injectable } from '@nestjs/common';
import type { SignerId } from '../../../kernel/signer-id.js';
import { type ChainConnector, Chains, type EndpointStatus, type FeeQuote, RpcHealth } from '../../chain/index.js';
import { inTime } from './in-time.js';

/** What the chain of a signer says now; null where it does not say it in time. */
export interface Standing {
  readonly quote: FeeQuote | null;
  /** Wei. */
  readonly balance: bigint | null;
  readonly endpoints: readonly EndpointStatus[];
}

/** Reads a quote and a balance, for answers that can do without. */
@Injectable()
export class ChainStanding {
  constructor(
    private readonly chains: Chains,
    private readonly rpc: RpcHealth,
  ) {}

  async execute({ chainId, address }: SignerId): Promise<Standing> {
    const ask = <T>(question: (chain: ChainConnector) => Promise<T>): Promise<T | null> =>
      inTime(async () => question(this.chains.get(chainId)));
    const [quote, balances] = await Promise.all([
      ask((chain) => chain.feeQuote()),
      ask((chain) => chain.balances([address])),
    ]);
    return {
      quote,
      balance: balances?.[0] ?? null,
      // After the questions, which may be what shows that an endpoint is away.
      endpoints: this.rpc.endpoints().filter((endpoint) => endpoint.chainId === chainId),
    };
  }
}
