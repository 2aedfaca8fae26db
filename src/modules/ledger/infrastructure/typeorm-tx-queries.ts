import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, In, LessThan, Repository } from 'typeorm';
import { inSlices } from '../../../kernel/in-slices.js';
import { DEFAULT_ACCOUNT, isUnlimited, mayUse, type Viewer } from '../../../kernel/caller.js';
import { parseAddress } from '../../../kernel/hex.js';
import type { Sized } from '../../../kernel/page-bytes.js';
import { toJsonInteger } from '../../../kernel/quantities.js';
import { distinctSigners, parseSigner, type SignerId, signerKey } from '../../../kernel/signer-id.js';
import { translated } from '../../../platform/database/database-errors.js';
import { READS, ReadDatabase } from '../../../platform/database/pools.js';
import { pageOf } from '../../../platform/http/page-cursor.js';
import { Router, signerColumns } from '../../signers/index.js';
import { contractOf } from '../application/views/contract-of.js';
import {
  type AttemptView,
  type AuthorizationView,
  type PermitView,
  type TxFilter,
  type TxList,
  TxQueries,
  type TxView,
} from '../application/views/tx-views.js';
import { isPaused } from '../../signers/index.js';
import { isFinal, type TxState, type TxSubState } from '../domain/tx-state-machine.js';
import { ManagedTxEntity } from './managed-tx.entity.js';
import { COMMITTED_WEI } from './pg-funds.repository.js';
import type { StoredAuthorization, StoredPermit } from './managed-tx.rows.js';
import { TxAttemptEntity } from './tx-attempt.entity.js';
import { listStatement, VIEW_BYTES } from './tx-list.statement.js';

/** This many ids make a parameter of about 400 kB, and reading their rows does not block the event loop for long. */
const IDS_PER_STATEMENT = 10_000;
const PAUSED = {
  name: 'tx_paused_signers',
  text: `
    SELECT w.chain_id, w.signer, CASE WHEN ${isPaused('w.chain_id', 'w.signer')} THEN 'SIGNER_PAUSED' ELSE 'ACCOUNT_STOPPED' END AS held
      FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer) WHERE ${isPaused('w.chain_id', 'w.signer', '$3::uuid')}`,
};
const OF_ACCOUNT = {
  name: 'tx_of_account',
  text: 'SELECT tx_id FROM managed_tx WHERE tx_id = ANY($1::uuid[]) AND account_id = $2',
};
const CHANGED_STATES = {
  name: 'tx_changed_states',
  text: `
    SELECT t.tx_id, t.state FROM unnest($1::uuid[], $2::text[]) AS k (tx_id, state) JOIN managed_tx t ON t.tx_id = k.tx_id
     WHERE t.state IS DISTINCT FROM k.state`,
};

@Injectable()
export class TypeormTxQueries extends TxQueries {
  constructor(
    @InjectRepository(ManagedTxEntity, READS) private readonly txs: Repository<ManagedTxEntity>,
    @InjectRepository(TxAttemptEntity, READS) private readonly sent: Repository<TxAttemptEntity>,
    private readonly database: ReadDatabase,
    private readonly router: Router,
  ) {
    super();
  }

  async find(txId: string, viewer: Viewer): Promise<TxView | null> {
    return this.viewOf(await translated(this.txs.findOne({ where: { txId } })), viewer);
  }

  async findByRequest({ chainId, address }: SignerId, requestId: string, viewer: Viewer): Promise<TxView | null> {
    const { account: accountId } = viewer;
    const found = this.txs.findOne({ where: { chainId: String(chainId), signer: address, accountId, requestId } });
    return this.viewOf(await translated(found), viewer);
  }

  async list(filter: TxFilter, viewer: Viewer): Promise<TxList> {
    const sized = await translated(this.sizes(filter, viewer));
    const { items, nextCursor } = pageOf(
      sized,
      filter.limit,
      ({ id }) => id,
      ({ bytes }) => bytes,
    );
    const ids = items.map(({ id }) => id);
    const rows = await translated(this.txs.find({ where: { txId: In(ids) }, order: { txId: 'DESC' } }));
    return { items: await this.viewsOf(rows), nextBefore: nextCursor };
  }

  private async viewOf(row: ManagedTxEntity | null, viewer: Viewer): Promise<TxView | null> {
    const isVisible = row?.accountId === viewer.account && mayUse(viewer, parseSigner(row.chainId, row.signer));
    const [view = null] = await this.viewsOf(isVisible ? [row] : []);
    return view;
  }

  /** @param rows of one account */
  private async viewsOf(rows: readonly ManagedTxEntity[]): Promise<TxView[]> {
    const paused = await this.pausedOf(rows.filter(({ state }) => state === 'PENDING'));
    return rows.map((row) => toView(row, standing(row, this.router, paused)));
  }

  /** What holds txs of an account now, by the keys of their signers. */
  private async pausedOf(waiting: readonly ManagedTxEntity[]): Promise<ReadonlyMap<string, TxSubState>> {
    const [first] = waiting;
    if (!first) return new Map();
    const signers = distinctSigners(waiting.map(({ chainId, signer }) => parseSigner(chainId, signer)));
    const { rows } = await this.database.query<{ chain_id: string; signer: string; held: TxSubState }>(PAUSED, [
      ...signerColumns(signers),
      first.accountId,
    ]);
    return new Map(rows.map((row) => [signerKey(parseSigner(row.chain_id, row.signer)), row.held]));
  }

  async attempts(txId: string): Promise<AttemptView[]> {
    const rows = await translated(this.sent.find({ where: { txId }, order: { createdAt: 'ASC', txHash: 'ASC' } }));
    return rows.map(toAttemptView);
  }

  async committedWei(signer: SignerId): Promise<bigint> {
    const { rows } = await this.database.query<{ wei: string }>(COMMITTED_WEI, signerColumns([signer]));
    return BigInt(rows[0]?.wei ?? 0);
  }

  async ofAccount(txIds: readonly string[], account: string): Promise<ReadonlySet<string>> {
    if (txIds.length === 0) return new Set();
    const { rows } = await this.database.query<{ tx_id: string }>(OF_ACCOUNT, [txIds, account]);
    return new Set(rows.map(({ tx_id }) => tx_id));
  }

  async changedStates(known: ReadonlyMap<string, TxState | null>): Promise<ReadonlyMap<string, TxState>> {
    const states = new Map<string, TxState>();
    for (const some of inSlices([...known], IDS_PER_STATEMENT)) {
      const values = [some.map(([txId]) => txId), some.map(([, state]) => state)];
      const { rows } = await this.database.query<{ tx_id: string; state: TxState }>(CHANGED_STATES, values);
      for (const { tx_id, state } of rows) states.set(tx_id, state);
    }
    return states;
  }

  /** Reads one row more than requested, to know whether there is a next page. Ids sort by time of creation (UUIDv7). */
  private async sizes(filter: TxFilter, viewer: Viewer): Promise<Sized<{ id: string }>[]> {
    const most = filter.limit + 1;
    const newestFirst = this.txs
      .createQueryBuilder('t')
      .where(await this.whereOf({ ...filter, limit: most }, viewer))
      .orderBy('t.txId', 'DESC')
      .limit(most);
    return newestFirst.select('t.txId', 'id').addSelect(VIEW_BYTES, 'bytes').getRawMany<Sized<{ id: string }>>();
  }

  private async whereOf(filter: TxFilter, viewer: Viewer): Promise<FindOptionsWhere<ManagedTxEntity>> {
    const { chainId, signer, state, kind, before } = filter;
    const isOfAll = chainId === undefined && signer === undefined && state === undefined && kind === 'payload';
    const { account: accountId } = viewer;
    if (!isOfAll || accountId !== DEFAULT_ACCOUNT || !isUnlimited(viewer))
      return { txId: In(await this.idsOf(filter, viewer)) };
    return {
      ...{ kind, accountId },
      ...(before === undefined ? {} : { txId: LessThan(before) }),
    };
  }

  private async idsOf(filter: TxFilter, viewer: Viewer): Promise<string[]> {
    const { text, values } = listStatement(filter, viewer);
    const rows: { tx_id: string }[] = await this.txs.query(text, [...values]);
    return rows.map((row) => row.tx_id);
  }
}

/** What is true of all txs of a signer is not stored with each of them. @param paused what holds waiting txs, by the keys of their signers */
function standing(row: ManagedTxEntity, router: Router, paused: ReadonlyMap<string, TxSubState>): TxSubState | null {
  const signer = parseSigner(row.chainId, row.signer);
  if (!isFinal(row.state) && !router.isServed(signer)) return 'SIGNER_UNAVAILABLE';
  return (row.state === 'PENDING' ? paused.get(signerKey(signer)) : null) ?? row.subState;
}

function toView(row: ManagedTxEntity, subState: TxSubState | null): TxView {
  const {
    txId,
    kind,
    signer,
    requestId,
    state,
    txHash,
    priority,
    confirmations,
    metadata,
    gasLimit,
    receipt,
    failureReason,
    lastError,
    options,
  } = row;
  return {
    txId,
    kind,
    chainId: Number(row.chainId),
    signer,
    requestId,
    state,
    subState,
    lastError,
    nonce: row.nonce === null ? null : toJsonInteger(BigInt(row.nonce)),
    txHash,
    replaces: row.replaces,
    replacedBy: row.replacedBy,
    payload: {
      to: row.to,
      value: row.value,
      data: `0x${row.data.toString('hex')}`,
      gasLimit: options.gasLimit ?? null,
      accessList: options.accessList ?? [],
      blobs: options.blobHashes ?? [],
      authorizationList: (options.authorizationList ?? []).map(toAuthorizationView),
      permits: (options.permits ?? []).map(toPermitView),
    },
    contractAddress: receipt?.contractAddress ?? predictedContract(row),
    speed: options.speed,
    priority,
    confirmations,
    expiresAt: time(row.expiresAt),
    metadata,
    callback: options.callback ?? null,
    gasLimit,
    receipt,
    failureReason,
    lastSubmitAt: time(row.lastSubmitAt),
    nextResubmitAt: time(row.nextResubmitAt),
    confirmedAt: time(row.confirmedAt),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Whoever signs: with its key it is signed, or will be. */
function toAuthorizationView({ authority, ...rest }: StoredAuthorization): AuthorizationView {
  return authority === undefined ? rest : { ...rest, signer: authority };
}

function toPermitView({ kind, contract, owner, ttl, made }: StoredPermit): PermitView {
  const deadline = made ? new Date(Number(made.deadline) * 1_000).toISOString() : null;
  return { kind, contract, owner, ttl, permitNonce: made?.nonce ?? null, deadline };
}

function predictedContract({ kind, chainId, signer, to, nonce, state }: ManagedTxEntity): string | null {
  const known = nonce === null ? null : BigInt(nonce);
  return contractOf({
    signer: parseSigner(chainId, signer),
    to: to === null ? null : parseAddress(to),
    nonce: known,
    state,
    isHold: kind === 'hold',
  });
}

function toAttemptView(row: TxAttemptEntity): AttemptView {
  const { txHash, kind, status, type, gasLimit, maxFeePerGas, maxPriorityFeePerGas, errorClass, lastError } = row;
  const hasOnePrice = type < 2;
  return {
    txHash,
    nonce: toJsonInteger(BigInt(row.nonce)),
    kind,
    status,
    type,
    gasLimit,
    gasPrice: hasOnePrice ? maxFeePerGas : null,
    maxFeePerGas: hasOnePrice ? null : maxFeePerGas,
    maxPriorityFeePerGas: hasOnePrice ? null : maxPriorityFeePerGas,
    maxFeePerBlobGas: row.maxFeePerBlobGas,
    errorClass,
    lastError,
    createdAt: row.createdAt.toISOString(),
    lastSentAt: time(row.lastSentAt),
  };
}

/** A replacement that waits for its command is due never, which the driver returns as a number. */
function time(date: Date | number | null): string | null {
  return date instanceof Date ? date.toISOString() : null;
}
