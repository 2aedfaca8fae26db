import { Conflict, NotFound, TooMany, Unavailable } from '../../../src/kernel/errors.js';

/* Read by thrown-problems.spec.ts as the compiler sees it, and never run. */

const MOST = 3;

abstract class Store {
  abstract find(id: string): Promise<string>;
}
class FullStore extends Store {
  async find(id: string): Promise<string> {
    if (id.length > MOST) throw refused('toy_refused', `no place for ${id}`);
    throw new TooMany('toy_full', `the store has ${MOST} items`, 'wait');
  }
}
class Busy extends Unavailable {
  constructor(by: string) {
    super('toy_busy', `busy with ${by.trim()}`, 'wait');
  }
}

function refused(code: string, detail: string): Conflict {
  return new Conflict(code, detail, 'send another');
}

export class ToyUseCase {
  private refusals = 0;

  constructor(private readonly store: Store = new FullStore()) {}

  async execute(id: string): Promise<string> {
    void this.inBackground();
    setImmediate(() => void this.inBackground());
    try {
      return await this.store.find(id);
    } catch (error) {
      if (!(error instanceof TooMany)) throw error;
      return this.swallowed().catch(() => 'again');
    }
  }

  async count(ids: readonly string[]): Promise<number> {
    const found = await this.all(ids);
    if (found.length === 0) throw new Busy('counting');
    return found.length;
  }

  private async all(ids: readonly string[]): Promise<readonly string[]> {
    try {
      return await Promise.all(ids.map((id) => this.store.find(id)));
    } catch (error) {
      if (error instanceof Conflict) this.refusals += 1;
      throw error;
    }
  }

  private async inBackground(): Promise<void> {
    throw new NotFound('toy_background', 'not there', 'look elsewhere');
  }

  private async swallowed(): Promise<string> {
    throw new NotFound('toy_swallowed', 'not there', 'look elsewhere');
  }
}
