import { Injectable, type OnModuleDestroy } from '@nestjs/common';

/** Knows whether this node is shutting down: readiness fails from the start of a shutdown. */
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
