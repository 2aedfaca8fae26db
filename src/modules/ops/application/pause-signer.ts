import { Injectable } from '@nestjs/common';
import { type Pause, type PauseScope, SignerPauses } from '../../signers/index.js';
import { type PauseOrder, StorePauses } from './store-pauses.js';

/**
 * Pauses signers on request of an operator: they get no new nonces. What was sent is watched. Every lane reads the pause from the database, so
 * any node may write it.
 */
@Injectable()
export class PauseSigner {
  constructor(
    private readonly store: StorePauses,
    private readonly pauses: SignerPauses,
  ) {}

  /**
   * When it returns, the signers get no more nonces.
   * @throws NotFound `unknown_signer`
   * @throws Unavailable when a write of an owner took too long to wait for; the pause is stored
   */
  async execute(scope: PauseScope, order: PauseOrder): Promise<Pause> {
    const pause = await this.store.pause(scope, order);
    // After the commit: every later write of an owner sees the pause.
    await this.pauses.writesEnded(scope);
    return pause;
  }
}
