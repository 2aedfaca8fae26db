import { Injectable } from '@nestjs/common';
import type { ChainConnector } from '../../chain/index.js';
import type { Lease } from '../../signers/index.js';
import { Doorbell, InFlightLimits } from '../../transactions/index.js';
import { AuthorizationStore } from '../domain/authorization-store.js';
import type { Grant } from '../domain/grant.js';
import { AuthorizationTurns } from './authorization-turns.js';
import { EndAuthorization, pauseMs } from './end-authorization.js';
import { GrantAuthorization } from './grant-authorization.js';

/** The next step of one authorization, and whom it concerns. */
@Injectable()
export class AuthorizationSteps {
  constructor(
    private readonly grants: GrantAuthorization,
    private readonly ends: EndAuthorization,
    private readonly turns: AuthorizationTurns,
    private readonly store: AuthorizationStore,
    private readonly limits: InFlightLimits,
    private readonly doorbell: Doorbell,
  ) {}

  async execute(chain: ChainConnector, lease: Lease, grant: Grant): Promise<void> {
    switch (grant.stage) {
      case 'wanted':
        await this.wanted(chain, lease, grant);
        return;
      case 'mined':
        this.mined(grant);
        return;
      case 'open':
        return;
      case 'overdue':
      case 'ended':
        await this.ended(chain, lease, grant);
    }
  }

  private async wanted(chain: ChainConnector, lease: Lease, grant: Grant): Promise<void> {
    if (await this.grants.execute(chain, lease, grant)) {
      this.turns.signed(grant.signer);
      this.doorbell.ring([grant.sender]);
    } else if (this.turns.isOver(grant)) {
      await this.store.postpone(grant, pauseMs(grant));
      this.turns.payloadsMayGo(grant.signer);
    }
  }

  /** The account may run other code from now on. */
  private mined(grant: Grant): void {
    if (!this.turns.isFirstMined(grant)) return;
    this.limits.mayHaveDelegated(grant.signer);
    this.doorbell.ring([grant.signer]);
  }

  private async ended(chain: ChainConnector, lease: Lease, grant: Grant): Promise<void> {
    if (!(await this.ends.execute(chain, lease, grant))) return;
    this.limits.mayHaveDelegated(grant.signer);
    this.turns.payloadsMayGo(grant.signer);
    this.doorbell.ring([grant.signer]);
  }
}
