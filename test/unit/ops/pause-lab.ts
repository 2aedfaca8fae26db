import { type AdminAction, AuditLog } from '../../../src/kernel/audit-log.js';
import type { Tx } from '../../../src/kernel/unit-of-work.js';
import { EventLog, type SignerEvent } from '../../../src/modules/events/index.js';
import { StorePauses } from '../../../src/modules/ops/application/store-pauses.js';
import { type Pause, SignerPauses } from '../../../src/modules/signers/index.js';
import { aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { Named } from '../../support/fakes/fake-node.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const TX = { open: true } as Tx;
export const SINCE = new Date('2026-11-21T08:00:00Z');

/** Signers that can be paused, and what was done, in order. */
export class PauseLab {
  readonly steps: string[] = [];
  readonly events: SignerEvent[] = [];
  readonly audited: AdminAction[] = [];
  /** In every scope. */
  signers = [aSigner()];
  pause: Pause | null = null;

  readonly unitOfWork = {
    run: async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
      const result = await work(TX);
      this.steps.push('commit');
      return result;
    },
  };

  readonly pauses = fakeOf(SignerPauses, {
    signers: async () => this.signers,
    pause: async (tx, scope, request) => {
      this.steps.push(tx === TX ? 'pause' : 'pause outside');
      const changed = this.pause === null;
      this.pause ??= { account: null, ...scope, ...request, since: SINCE };
      return { pause: this.pause, changed };
    },
    resume: async (tx) => {
      this.steps.push(tx === TX ? 'resume' : 'resume outside');
      const changed = this.pause !== null;
      this.pause = null;
      return changed;
    },
    writesEnded: async () => void this.steps.push('writes ended'),
  });

  readonly log = fakeOf(EventLog, {
    appendOfSigners: async (tx, author, events) => {
      this.steps.push(tx === TX ? `event of ${author.nodeId}` : 'event outside');
      this.events.push(...events);
    },
  });

  readonly audit = fakeOf(AuditLog, {
    record: async (action, tx) => {
      this.steps.push(tx === TX ? 'audit' : 'audit outside');
      this.audited.push(action);
    },
  });

  readonly store = new StorePauses(
    this.unitOfWork,
    this.pauses,
    this.log,
    this.audit,
    new Named('n'),
    new RecordingLog(),
  );
}
