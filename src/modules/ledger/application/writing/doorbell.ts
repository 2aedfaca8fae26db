import { Injectable } from '@nestjs/common';
import type { SignerId } from '../../../../kernel/signer-id.js';

/** Tells the node that acts for a signer that there is work. Only speed depends on it: polling finds all work (docs/invariants.md, I4). */
export abstract class Doorbell {
  abstract ring(signers: readonly SignerId[]): void;
}

type Wake = (signers: readonly SignerId[]) => void;

/** Passes rings for the signers of this node to the lane scheduler, whose module depends on this one. */
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
