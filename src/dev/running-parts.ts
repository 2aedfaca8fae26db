import type { Log } from './log.js';

/** What has been started so far, to be stopped in the opposite order, whatever happens. */
export class RunningParts {
  private readonly parts: { readonly name: string; readonly stop: () => Promise<unknown> }[] = [];

  add(name: string, stop: () => Promise<unknown>): void {
    this.parts.push({ name, stop });
  }

  async stopAll(log: Log): Promise<void> {
    for (let part = this.parts.pop(); part; part = this.parts.pop()) {
      try {
        await part.stop();
        log(`${part.name} has stopped`);
      } catch (error) {
        log(`${part.name} did not stop: ${String(error)}`);
      }
    }
  }
}
