import type { Tx } from '../../../src/kernel/unit-of-work.js';
import type { EventLog, SignerEvent } from '../../../src/modules/events/index.js';
import type { Pause, PauseRequest, SignerPauses } from '../../../src/modules/signers/index.js';

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

  readonly pauses = {
    pause: async (tx: Tx, _signer: unknown, request: PauseRequest) => {
      this.steps.push(tx === TX ? 'pause' : 'pause outside');
      const changed = this.pause === null;
      this.pause ??= { ...request, since: SINCE };
      return this.known ? { pause: this.pause, changed } : null;
    },
    resume: async (tx: Tx) => {
      this.steps.push(tx === TX ? 'resume' : 'resume outside');
      const changed = this.pause !== null;
      this.pause = null;
      return this.known ? { pause: null, changed } : null;
    },
    writesEnded: async () => void this.steps.push('writes ended'),
  } as unknown as SignerPauses;

  readonly log = {
    appendOfSigners: async (tx: Tx, author: { nodeId: string }, events: readonly SignerEvent[]) => {
      this.steps.push(tx === TX ? `event of ${author.nodeId}` : 'event outside');
      this.events.push(...events);
    },
  } as unknown as EventLog;
}
