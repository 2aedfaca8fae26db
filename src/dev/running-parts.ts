import type { Log } from './log.js';

/** The started parts. Stops them in the opposite order; a part that fails to stop does not prevent the others. */
export class RunningParts {
  private readonly parts: { readonly name: string | null; readonly stop: () => Promise<unknown> }[] = [];

  /** The end of a part without a name is not logged. */
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
