import { Injectable } from '@nestjs/common';
import type { ChainConnector } from '../../chain/index.js';
import type { Lease } from '../../signers/index.js';
import type { Decision, TxCommand } from '../domain/tx-command.js';
import { CancelSent } from './cancel-sent.js';
import { ReplaceSent } from './replace-sent.js';
import { SpeedUpSent } from './speed-up-sent.js';

/** Carries out one command. */
@Injectable()
export class CommandSteps {
  constructor(
    private readonly cancel: CancelSent,
    private readonly replace: ReplaceSent,
    private readonly speedUp: SpeedUpSent,
  ) {}

  /** @returns null when it has to be tried again */
  async execute(chain: ChainConnector, leases: readonly Lease[], command: TxCommand): Promise<Decision | null> {
    switch (command.kind) {
      case 'cancel':
        return this.cancel.execute(leases, command);
      case 'replace':
        return this.replace.execute(chain, leases, command);
      case 'speed_up':
        return this.speedUp.execute(chain, leases, command);
    }
  }
}
