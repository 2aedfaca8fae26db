import { Injectable } from '@nestjs/common';
import { NodeIdentity } from '../../kernel/node-identity.js';
import { Log } from '../logging/log.js';
import { Database } from './database.js';
import { sqlState } from './database-errors.js';
import { HeartbeatDatabase } from './pools.js';
import { type DatabaseSighting, evidenceOfLoss, type LossEvidence, sameEpoch } from './database-sighting.js';

const NEWEST_EPOCH = `
  LEFT JOIN LATERAL (SELECT * FROM database_epoch ORDER BY epoch DESC LIMIT 1) e ON true`;
const EPOCH_COLUMNS = `e.epoch, e.started_at::text AS started_at, e.system_identifier, e.timeline`;

/**
 * The timeline is read off the name of a log file: the control file names it only after the checkpoint that follows a promotion.
 * What is flushed, and not what is written, because a crash takes the difference, in which there is no commit.
 */
const SEE = {
  name: 'database_see',
  text: `
    SELECT ${EPOCH_COLUMNS}, s.system_identifier::text AS server, ('x' || left(pg_walfile_name(l.flushed), 8))::bit(32)::bigint AS server_timeline,
           (l.flushed - '0/0'::pg_lsn)::text AS flushed
      FROM pg_control_system() s CROSS JOIN (SELECT pg_current_wal_flush_lsn() AS flushed) l ${NEWEST_EPOCH}`,
};

/** Where these functions may not be called, or do not exist. */
const SEE_EPOCH = {
  name: 'database_see_epoch',
  text: `
    SELECT ${EPOCH_COLUMNS}, NULL AS server, NULL AS server_timeline, NULL AS flushed FROM (SELECT 1) s ${NEWEST_EPOCH}`,
};

/** Of several nodes that see the same one opens the epoch. */
const OPEN_EPOCH = {
  name: 'database_open_epoch',
  text: `
    INSERT INTO database_epoch (epoch, system_identifier, timeline, evidence, node_id)
    SELECT $1::bigint + 1, $2, $3, $4, $5 WHERE (SELECT coalesce(max(epoch), 0) FROM database_epoch) = $1
        ON CONFLICT (epoch) DO NOTHING`,
};

/** SQLSTATE: insufficient_privilege, feature_not_supported, undefined_function. */
const NOT_TOLD = new Set(['42501', '0A000', '42883']);

interface Row {
  epoch: string | null;
  started_at: string | null;
  system_identifier: string | null;
  timeline: string | null;
  server: string | null;
  server_timeline: string | null;
  flushed: string | null;
}

/**
 * Notices that the database may have lost commits that were answered: a standby was promoted that had not received all, an older
 * copy was restored, or the server crashed without keeping what it had promised. Looks with every heartbeat, and before anything is
 * done on new connections: no failover leaves the old ones alive.
 */
@Injectable()
export class DatabaseWatch {
  private seen: DatabaseSighting | null = null;
  private readonly looking = new Map<Database, Promise<void>>();
  /** How many connections had been made when this process looked last. */
  private connectsSeen = -1;
  private reported: LossEvidence | null = null;
  private statement = SEE;
  private readonly listeners: ((evidence: LossEvidence) => void)[] = [];

  constructor(
    private readonly database: Database,
    private readonly heartbeat: HeartbeatDatabase,
    private readonly node: NodeIdentity,
    private readonly log: Log,
  ) {}

  /** Called when a new epoch has begun, whoever noticed it. */
  onNewEpoch(listener: (evidence: LossEvidence) => void): void {
    this.listeners.push(listener);
  }

  /** Somebody found the database older than what was committed. The next look opens an epoch. */
  report(evidence: LossEvidence): void {
    this.reported = evidence;
    this.connectsSeen = -1;
  }

  /** Costs nothing as long as no connection was made since the last look. */
  async lookIfReconnected(): Promise<void> {
    if (this.database.connects !== this.connectsSeen) await this.lookThrough(this.database);
  }

  /** With every heartbeat, on connections that wait for nothing else. */
  async look(): Promise<void> {
    await this.lookThrough(this.heartbeat);
  }

  /** Where the connections of that pool lead to. */
  private async lookThrough(database: Database): Promise<void> {
    const begun = this.looking.get(database) ?? this.lookOnce(database).finally(() => this.looking.delete(database));
    this.looking.set(database, begun);
    await begun;
  }

  private async lookOnce(database: Database): Promise<void> {
    const { connects } = this.database;
    const before = this.seen;
    let now = await this.see(database);
    const evidence = this.reported ?? evidenceOfLoss(before, now);
    if (evidence !== null || now.epoch === null) now = await this.openEpoch(database, now, evidence);
    this.reported = null;
    this.seen = now;
    if (database === this.database) this.connectsSeen = connects;
    if (evidence !== null || (before !== null && !sameEpoch(before.epoch, now.epoch)))
      for (const listener of this.listeners) listener(evidence ?? 'new_timeline');
  }

  private async openEpoch(
    database: Database,
    now: DatabaseSighting,
    evidence: LossEvidence | null,
  ): Promise<DatabaseSighting> {
    const values = [now.epoch?.number ?? 0, now.system, now.timeline, evidence ?? 'first', this.node.id];
    await database.query(OPEN_EPOCH, values);
    if (evidence !== null)
      this.log.error('the database may have lost commits: every signer is reconciled before it goes on', {
        evidence,
        system: now.system,
        timeline: now.timeline,
        epoch: now.epoch?.number,
      });
    return this.see(database);
  }

  private async see(database: Database): Promise<DatabaseSighting> {
    try {
      const { rows } = await database.query<Row>(this.statement, []);
      return sightingOf(rows[0]);
    } catch (error) {
      if (this.statement === SEE_EPOCH || !NOT_TOLD.has(sqlState(error) ?? '')) throw error;
      this.log.warn('the database does not tell its timeline: a failover is noticed by its effects only', { error });
      this.statement = SEE_EPOCH;
      return this.see(database);
    }
  }
}

function sightingOf(row: Row | undefined): DatabaseSighting {
  const { epoch = null, started_at: startedAt = null } = row ?? {};
  return {
    epoch:
      epoch === null || startedAt === null
        ? null
        : {
            number: Number(epoch),
            startedAt,
            system: row?.system_identifier ?? null,
            timeline: numberOrNull(row?.timeline),
          },
    system: row?.server ?? null,
    timeline: numberOrNull(row?.server_timeline),
    flushed: row?.flushed == null ? null : BigInt(row.flushed),
  };
}

function numberOrNull(text: string | null | undefined): number | null {
  return text == null ? null : Number(text);
}
