import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import { EventBell } from '../application/event-bell.js';
import { type EventAuthor, EventLog, type SignerEventAuthor } from '../domain/event-log.js';
import type { SignerEvent, TxEvent } from '../domain/tx-event.js';

/**
 * What every INSERT INTO tx_event writes as `xid`, except that of the first event of a tx (docs/decisions/0028-order-of-events.md). Readers order by (xid, seq), and read only what is below the oldest open database
 * transaction. A database transaction gets its own id when it takes its first lock, and may write about a tx after a younger one has: its
 * events would come first. The highest id that is in the log is at least that of each earlier event of the same tx.
 */
export const NEXT_XID = `GREATEST(pg_current_xact_id(), (SELECT l.xid FROM tx_event l ORDER BY l.xid DESC, l.seq DESC LIMIT 1))`;

const APPEND = {
  name: 'event_append',
  text: `
    INSERT INTO tx_event (xid, chain_id, tx_id, reason, from_state, to_state, node_id, actor, fencing_token, tx_hash, block_number, block_hash, error, detail)
    SELECT ${NEXT_XID}, e.chain_id, e.tx_id, e.reason, e.from_state, e.to_state, $12, $13, e.token, e.tx_hash, e.block_number, e.block_hash, e.error, e.detail
      FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::text[], $10::text[], $11::jsonb[])
           WITH ORDINALITY AS e (chain_id, tx_id, reason, from_state, to_state, token, tx_hash, block_number, block_hash, error, detail, position)
     ORDER BY e.position`,
};

const APPEND_OF_SIGNERS = {
  name: 'event_append_of_signers',
  text: `
    INSERT INTO tx_event (xid, chain_id, signer, reason, node_id, actor, fencing_token, detail)
    SELECT ${NEXT_XID}, e.chain_id, e.signer, e.reason, $6, $7, e.token, e.detail
      FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::jsonb[])
           WITH ORDINALITY AS e (chain_id, signer, reason, token, detail, position)
     ORDER BY e.position`,
};

@Injectable()
export class PgEventLog extends EventLog {
  constructor(private readonly bell: EventBell) {
    super();
  }

  async append(tx: Tx, author: EventAuthor, events: readonly TxEvent[]): Promise<void> {
    if (events.length === 0) return;
    PgTx.of(tx).afterCommit(() => this.bell.ring());
    await PgTx.of(tx).query(APPEND, [
      events.map((event) => event.signer.chainId),
      events.map((event) => event.txId),
      events.map((event) => event.reason),
      events.map((event) => event.from),
      events.map((event) => event.to),
      events.map((event) => author.tokenFor(event.signer)),
      events.map((event) => event.txHash ?? null),
      events.map((event) => event.block?.number ?? null),
      events.map((event) => event.block?.hash ?? null),
      events.map((event) => event.error ?? null),
      events.map((event) => (event.detail ? JSON.stringify(event.detail) : null)),
      author.nodeId,
      author.actor ?? null,
    ]);
  }

  async appendOfSigners(tx: Tx, author: SignerEventAuthor, events: readonly SignerEvent[]): Promise<void> {
    if (events.length === 0) return;
    PgTx.of(tx).afterCommit(() => this.bell.ring());
    await PgTx.of(tx).query(APPEND_OF_SIGNERS, [
      events.map(({ signer }) => signer.chainId),
      events.map(({ signer }) => signer.address),
      events.map(({ reason }) => reason),
      events.map(({ signer }) => author.tokenFor(signer)),
      events.map(({ detail }) => JSON.stringify(detail)),
      author.nodeId,
      author.actor ?? null,
    ]);
  }
}
