import { Injectable } from '@nestjs/common';
import type { SignerId } from '../../../../kernel/signer-id.js';

type Wake = (signers: readonly SignerId[]) => void;

/** Passes rings for this node's signers to the scheduler of their lanes, which is in a module that this one does not know. */
@Injectable()
export class LaneWaker {
  private listener: Wake = () => undefined;

  onWake(listener: Wake): void {
    this.listener = listener;
  }

  wake(signers: readonly SignerId[]): void {
    this.listener(signers);
  }
}
