import { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import type { LossEvidence } from '../../../src/platform/database/database-sighting.js';
import { fakeOf } from './fake-of.js';

/** A look at the database server that finds nothing, until a test says that a new epoch began. */
export class FakeWatch implements Pick<DatabaseWatch, 'onNewEpoch' | 'checkIfReconnected'> {
  private readonly listeners: ((evidence: LossEvidence) => void)[] = [];
  checks = 0;

  onNewEpoch(listener: (evidence: LossEvidence) => void): void {
    this.listeners.push(listener);
  }

  async checkIfReconnected(): Promise<void> {
    this.checks += 1;
  }

  newEpoch(): void {
    for (const listener of this.listeners) listener('new_timeline');
  }

  asWatch(): DatabaseWatch {
    return fakeOf(DatabaseWatch, this);
  }
}

export function aWatch(): DatabaseWatch {
  return new FakeWatch().asWatch();
}
