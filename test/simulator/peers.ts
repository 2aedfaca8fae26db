import { Unavailable } from '../../src/kernel/errors.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import type { LeaseHolder } from '../../src/modules/signers/index.js';
import { Doorbell } from '../../src/modules/ledger/application/writing/doorbell.js';
import {
  type ForwardedAnswer,
  Forwarding,
  type OriginalRequest,
} from '../../src/modules/requests/application/forwarding.js';
import type { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { WaitForState } from '../../src/modules/requests/application/wait-for-state.js';
import type { TxRequest } from '../../src/modules/ledger/domain/tx-request.js';

export type Request = Omit<TxRequest, 'requestHash'>;

/** How nodes reach each other: bells by way of the database, requests by HTTP. */
export interface Peers {
  /** A bell is heard later, or not at all; who rang it hears it, too. */
  rang(by: string, signers: readonly SignerId[]): void;
  /**
   * @returns the id of the tx
   * @throws as a connection that broke, or whatever the owner answers
   */
  ask(nodeId: string, request: Request): Promise<string>;
}

export class BellRope extends Doorbell {
  constructor(
    private readonly id: string,
    private readonly peers: Peers,
  ) {
    super();
  }

  ring(signers: readonly SignerId[]): void {
    this.peers.rang(this.id, signers);
  }
}

/** Passes a request on to its owner, past HTTP. */
export class SimForwarding extends Forwarding {
  constructor(private readonly peers: Peers) {
    super();
  }

  async forward({ nodeId }: LeaseHolder, { body }: OriginalRequest): Promise<ForwardedAnswer> {
    try {
      const txId = await this.peers.ask(nodeId, body as Request);
      return { status: 202, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ txId }) };
    } catch (error) {
      throw new Unavailable('owner_unreachable', `the owner did not answer: ${String(error)}`, 'send it again');
    }
  }
}

/** Clients here do not wait for their nonce: waiting is by the timers of the process. */
export class NoWait extends WaitForState {
  override execute(): Promise<void> {
    return Promise.resolve();
  }
}

/** Reads for clients go by TypeORM's entities, which the nodes here have none of. */
export const NO_VIEWS: Pick<TxQueries, 'find'> = { find: () => Promise.resolve(null) };
