import type { Log } from './log.js';

/** What has been started so far, to be stopped in the opposite order, whatever happens. */
export class RunningParts {
  private readonly parts: { readonly name: string | null; readonly stop: () => Promise<unknown> }[] = [];

  /** A part without a name is not worth a line in the log. */
  add(name: string | null, stop: () => Promise<unknown>): void {
    this.parts.push({ name, stop });
  }

  async stopAll(log: Log): Promise<void> {
    for (let part = this.parts.pop(); part; part = this.parts.pop()) {
      try {
        await part.stop();
        if (part.name !== null) log(`${part.name} has stopped`);
      } catch (error) {
        log(`${part.name ?? 'a part'} did not stop: ${String(error)}`);
      }
    }
  }
}
