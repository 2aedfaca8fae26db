import { EventBell } from '../../../src/modules/events/index.js';

/** Nobody hears it. */
export class SilentEventBell extends EventBell {
  override ring(): void {}

  override listen(_heard: () => void): () => void {
    return () => undefined;
  }
}
