import type { BlobProofs } from '../../../config/sections/chain-config.js';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import type { BroadcastOutcome } from '../domain/broadcast-outcome.js';
import type { SignedBytes } from '../domain/chain-connector.js';
import { type BlobForm, inForm } from './blob-form.js';

type Send = (transactions: readonly SignedBytes[]) => Promise<BroadcastOutcome[]>;

/** With these a node refuses a form that it does not read, or that its fork does not allow. */
const FORM_ERRORS: ReadonlySet<NodeErrorClass> = new Set<NodeErrorClass>(['blob_error', 'invalid_transaction']);

/**
 * Sends blobs in the form that the fork of a chain demands. Nodes do not tell their fork, so after a refusal by every endpoint the other form
 * is sent, too, and kept when it is accepted: a fork costs one refusal.
 */
export class BlobSends {
  private form: BlobForm;

  constructor(private readonly rule: BlobProofs) {
    this.form = rule === 'auto' ? 'cell' : rule;
  }

  async execute(transactions: readonly SignedBytes[], send: Send): Promise<BroadcastOutcome[]> {
    const outcomes = await send(transactions.map((item) => ({ ...item, raw: inForm(item, this.form) })));
    const refused = transactions.filter((item, i) => item.sidecar !== undefined && isAboutForm(outcomes[i]));
    if (this.rule !== 'auto' || refused.length === 0) return outcomes;
    const other = this.form === 'cell' ? 'blob' : 'cell';
    const again = await send(refused.map((item) => ({ ...item, raw: inForm(item, other) })));
    if (again.some(({ kind }) => kind === 'accepted')) this.form = other;
    const better = new Map(refused.map((item, i) => [item, again[i]]));
    return transactions.flatMap((item, i): BroadcastOutcome[] => {
      const retried = better.get(item);
      // When both forms are refused, the refusal of the usual form says why.
      const outcome = retried !== undefined && retried.kind !== 'rejected' ? retried : outcomes[i];
      return outcome ? [outcome] : [];
    });
  }
}

function isAboutForm(outcome: BroadcastOutcome | undefined): boolean {
  return outcome?.kind === 'rejected' && FORM_ERRORS.has(outcome.errorClass);
}
