import { Injectable } from '@nestjs/common';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ConfiguredChains } from './configured-chains.js';

/** Several answers of an endpoint that is well, and below what is left for the rest of a shutdown. */
const GRACE_MS = 5_000;

/**
 * Calls in flight get so long when a shutdown begins; then they fail, and later ones at once. An endpoint that hangs is a reason to restart a node, and
 * its leases would otherwise not be released in time. What was signed is stored: the next node sends at once what never left this one, and the rest
 * when its timer runs out.
 */
@Injectable()
export class EndpointGrace {
  constructor(chains: ConfiguredChains, tickers: Tickers) {
    tickers.onShutdown(() => void setTimeout(() => void chains.close(), GRACE_MS).unref());
  }
}
