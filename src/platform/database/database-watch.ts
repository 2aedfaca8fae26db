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
 * Reads the timeline from the name of a log file: the control file has it only after the checkpoint that follows a promotion. Reads the
 * flushed position of the log and not the written one, because a crash loses the difference, which has no acknowledged commit.
 */
const READ_SERVER = {
  name: 'database_see',
  text: `
    SELECT ${EPOCH_COLUMNS}, s.system_identifier::text AS server, ('x' || left(pg_walfile_name(l.flushed), 8))::bit(32)::bigint AS server_timeline,
           (l.flushed - '0/0'::pg_lsn)::text AS flushed
      FROM pg_control_system() s CROSS JOIN (SELECT pg_current_wal_flush_lsn() AS flushed) l ${NEWEST_EPOCH}`,
};

/** For servers where these functions are not allowed, or do not exist. */
const READ_EPOCH = {
  name: 'database_see_epoch',
  text: `
    SELECT ${EPOCH_COLUMNS}, NULL AS server, NULL AS server_timeline, NULL AS flushed FROM (SELECT 1) s ${NEWEST_EPOCH}`,
};

/** When several nodes find the same evidence, only one of them inserts the epoch. */
const OPEN_EPOCH = {
  name: 'database_open_epoch',
  text: `
    INSERT INTO database_epoch (epoch, system_identifier, timeline, evidence, node_id)
    SELECT $1::bigint, $2, $3, $4, $5 WHERE (SELECT coalesce(max(epoch), 0) FROM database_epoch) < $1
        ON CONFLICT (epoch) DO NOTHING`,
};

/** SQLSTATE: insufficient_privilege, feature_not_supported, undefined_function. */
const NOT_SUPPORTED = new Set(['42501', '0A000', '42883']);

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
 * Finds out that the database may have lost acknowledged commits: a standby was promoted that had not received all of them, an older copy
 * was restored, or the server crashed with unsafe settings. Checks with every heartbeat, and before a lane step when new connections were
 * made: a failover breaks the old ones.
 */
@Injectable()
export class DatabaseWatch {
  private last: DatabaseSighting | null = null;
  private readonly running = new Map<Database, Promise<void>>();
  /** Number of connections that had been made at the last check. */
  private connectsChecked = -1;
  private reported: LossEvidence | null = null;
  private statement = READ_SERVER;
  private readonly listeners: ((evidence: LossEvidence) => void)[] = [];

  constructor(
    private readonly database: Database,
    private readonly heartbeat: HeartbeatDatabase,
    private readonly node: NodeIdentity,
    private readonly log: Log,
  ) {}

  /** Calls the listener when a new epoch has begun, also when another node opened it. */
  onNewEpoch(listener: (evidence: LossEvidence) => void): void {
    this.listeners.push(listener);
  }

  /** Call when the database does not have a commit of this process. The next check opens an epoch. */
  report(evidence: LossEvidence): void {
    this.reported = evidence;
    this.connectsChecked = -1;
  }

  /** Whether a connection was made since the last check: it may be one to another server. */
  get hasReconnected(): boolean {
    return this.database.connects !== this.connectsChecked;
  }

  /** Checks only when a connection was made since the last check. */
  async checkIfReconnected(): Promise<void> {
    if (this.hasReconnected) await this.checkThrough(this.database);
  }

  /** Checks with every heartbeat, on connections that have no other work. */
  async check(): Promise<void> {
    await this.checkThrough(this.heartbeat);
  }

  /** Checks the server of this pool; concurrent callers share one check. */
  private async checkThrough(database: Database): Promise<void> {
    const begun = this.running.get(database) ?? this.checkOnce(database).finally(() => this.running.delete(database));
    this.running.set(database, begun);
    await begun;
  }

  private async checkOnce(database: Database): Promise<void> {
    const { connects } = this.database;
    const before = this.last;
    let now = await this.read(database);
    const evidence = this.reported ?? evidenceOfLoss(before, now);
    if (evidence !== null || now.epoch === null) now = await this.openEpoch(database, now, evidence);
    this.reported = null;
    this.last = now;
    if (database === this.database) this.connectsChecked = connects;
    if (evidence !== null || (before !== null && !sameEpoch(before.epoch, now.epoch)))
      for (const listener of this.listeners) listener(evidence ?? 'new_timeline');
  }

  private async openEpoch(
    database: Database,
    now: DatabaseSighting,
    evidence: LossEvidence | null,
  ): Promise<DatabaseSighting> {
    // Every signer counts as reconciled in epoch 1. When the row of that epoch is lost, the next epoch is 2.
    const number = (now.epoch?.number ?? (evidence === null ? 0 : 1)) + 1;
    await database.query(OPEN_EPOCH, [number, now.system, now.timeline, evidence ?? 'first', this.node.id]);
    if (evidence !== null)
      this.log.error('database may have lost commits: reconciling every signer', {
        evidence,
        system: now.system,
        timeline: now.timeline,
        epoch: now.epoch?.number,
      });
    return this.read(database);
  }

  private async read(database: Database): Promise<DatabaseSighting> {
    try {
      const { rows } = await database.query<Row>(this.statement, []);
      return sightingOf(rows[0]);
    } catch (error) {
      if (this.statement === READ_EPOCH || !NOT_SUPPORTED.has(sqlState(error) ?? '')) throw error;
      this.log.warn('failed to read database timeline: failovers are detected only by lost rows', { error });
      this.statement = READ_EPOCH;
      return this.read(database);
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
