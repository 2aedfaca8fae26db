import type { Tx } from '../../../src/kernel/unit-of-work.js';
import { EventLog, type SignerEvent } from '../../../src/modules/events/index.js';
import { type Pause, SignerPauses } from '../../../src/modules/signers/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const TX = { open: true } as Tx;
export const SINCE = new Date('2026-11-21T08:00:00Z');

/** One signer that can be paused, and what was done, in order. */
export class PauseLab {
  readonly steps: string[] = [];
  readonly events: SignerEvent[] = [];
  known = true;
  pause: Pause | null = null;

  readonly unitOfWork = {
    run: async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
      const result = await work(TX);
      this.steps.push('commit');
      return result;
    },
  };

  readonly pauses = fakeOf(SignerPauses, {
    pause: async (tx, _signer, request) => {
      this.steps.push(tx === TX ? 'pause' : 'pause outside');
      const changed = this.pause === null;
      this.pause ??= { ...request, since: SINCE };
      return this.known ? { pause: this.pause, changed } : null;
    },
    resume: async (tx) => {
      this.steps.push(tx === TX ? 'resume' : 'resume outside');
      const changed = this.pause !== null;
      this.pause = null;
      return this.known ? { pause: null, changed } : null;
    },
    writesEnded: async () => void this.steps.push('writes ended'),
  });

  readonly log = fakeOf(EventLog, {
    appendOfSigners: async (tx, author, events) => {
      this.steps.push(tx === TX ? `event of ${author.nodeId}` : 'event outside');
      this.events.push(...events);
    },
  });
}
