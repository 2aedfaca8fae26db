import { Injectable, type OnModuleDestroy } from '@nestjs/common';

/** Whether this node is on its way out: readiness turns red at the first moment of a shutdown. */
@Injectable()
export class Drain implements OnModuleDestroy {
  private started = false;

  get isDraining(): boolean {
    return this.started;
  }

  onModuleDestroy(): void {
    this.started = true;
  }
}
