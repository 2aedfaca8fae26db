import type { Caller } from './caller.js';
import type { Sized } from './page-bytes.js';
import type { Tx } from './unit-of-work.js';

/** Who does something: `Caller.name`, and the id of its account. */
export type Actor = Pick<Caller, 'name' | 'account'>;

/** Something that an administrator did. */
export interface AdminAction {
  readonly by: Actor;
  /** The operationId of the API, also for what the command line does. */
  readonly action: string;
  /** What it was done to: its kind and its name, such as `key:…`, `account:shop`, `webhook:…`, `signer:1:0x…`; or `all`. */
  readonly object: string;
  /** Never a secret. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

export interface AuditEntry extends Required<Omit<AdminAction, 'by'>> {
  readonly seq: string;
  readonly at: Date;
  readonly actor: string;
  /** The name of the actor's account. */
  readonly account: string;
}

export interface AuditFilter {
  /** The id of the account whose actors are asked for; null for all. */
  readonly account: string | null;
  readonly actor: string | null;
  readonly action: string | null;
  readonly object: string | null;
  readonly since: Date | null;
  /** Not itself. */
  readonly until: Date | null;
}

/** What administrators did. */
export abstract class AuditLog {
  /** @param tx the transaction that does it. Without one it is committed now: before the first of several transactions, or a request to somebody else */
  abstract record(action: AdminAction, tx?: Tx): Promise<void>;
  /** Newest first, before the entry `before`: one more than a page has, if there is one. */
  abstract list(filter: AuditFilter, before: string | null, limit: number): Promise<Sized<AuditEntry>[]>;
}
