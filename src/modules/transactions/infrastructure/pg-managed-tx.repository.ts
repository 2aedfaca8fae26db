import { type Fence, signerColumns, slotColumns, type SlotRef } from '../../signers/index.js';
import { Injectable } from '@nestjs/common';
import { Conflict } from '../../../kernel/errors.js';
import { type Hash, parseAddress, parseHash } from '../../../kernel/hex.js';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { type ChainId, parseSigner, type SignerId, signerKey } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx, type SqlValue, type Statement } from '../../../platform/database/pg-tx.js';
import type { FinalHeights } from '../../chain/index.js';
import type { AttemptKind } from '../domain/attempt.js';
import type { ManagedTx, Timer } from '../domain/managed-tx.js';
import {
  type AcceptedTx,
  type InFlightAround,
  type Intake,
  ManagedTxRepository,
  type NewTx,
  type PendingTx,
  type RequestedTx,
  type SignerRoom,
  type SignerWork,
  type UnminedTx,
} from '../domain/managed-tx.repository.js';
import type { PoolKind } from '../domain/pool-kind.js';
import type { StoredRequest } from '../domain/tx-request.js';
import type { TxState } from '../domain/tx-state-machine.js';
import {
  type ProgressRow,
  type RequestRow,
  toManagedTx,
  toRequest,
  toStoredOptions,
  toStoredReceipt,
} from './managed-tx.rows.js';
import { insertAuthorizations, unknownAuthorities, wantsAuthorizations } from './authorization-rows.js';
import { insertBlobs } from './pg-blob.repository.js';
import * as sql from './managed-tx.statements.js';

interface InsertedRow {
  tx_id: string;
  known: boolean;
  /** Null for an unknown signer. */
  paused: boolean | null;
  created: boolean;
}

interface LookUpRow {
  position: number;
  tx_id: string;
  state: TxState;
  nonce: string | null;
  tx_hash: string | null;
  request_hash: string;
}

interface UnminedRow extends ProgressRow {
  /** Null, like the next two, when the tx has no attempt. */
  attempt_kind: AttemptKind | null;
  priced_at_block: string | null;
  error_class: NodeErrorClass | null;
}

/** Below every rank. A rank is a priority with its sign changed. */
const BELOW_ALL_RANKS = -2_147_483_648;
/** A row takes about 0.1 ms, so a page stays far below every statement time-out. */
const RECEIPT_PAGE_TXS = 5_000;

@Injectable()
export class PgManagedTxRepository extends ManagedTxRepository {
  constructor(
    private readonly database: Database,
    private readonly node: NodeIdentity,
  ) {
    super();
  }

  async insertPending(txs: readonly NewTx[]): Promise<Intake[]> {
    const refused = await unknownAuthorities(this.database, txs);
    const rows = await this.insert(txs.filter(({ txId }) => !refused.has(txId)));
    const byId = new Map(rows.map((row) => [row.tx_id, row]));
    const repeated = txs.filter(({ txId }) => byId.get(txId)?.known === true && byId.get(txId)?.created === false);
    const existing = await this.lookUp(repeated);
    return txs.flatMap(({ txId, isServed }): Intake[] => {
      const row = byId.get(txId);
      const authority = refused.get(txId);
      if (authority !== undefined) return [{ kind: 'unknown_authority', authority }];
      if (row?.known !== true) return [{ kind: 'unknown_signer' }];
      const isPaused = row.paused === true;
      if (row.created) return [{ kind: 'created', txId, isPaused }];
      const found = existing.get(txId);
      if (!found && !isServed) return [{ kind: 'unserved_signer' }];
      return found ? [{ kind: 'exists', tx: found, isPaused }] : [];
    });
  }

  /** Only what has rows of other tables needs a transaction. */
  private async insert(txs: readonly NewTx[]): Promise<InsertedRow[]> {
    const values = [...requestColumns(txs), this.node.id, txs.map(({ isServed }) => isServed)];
    if (!txs.some(({ request }) => request.sidecar !== undefined || wantsAuthorizations(request)))
      return (await this.database.query<InsertedRow>(sql.INSERT_PENDING, values)).rows;
    return this.database.transaction(async (tx) => {
      const { rows } = await tx.query<InsertedRow>(sql.INSERT_PENDING, values);
      const created = new Set(rows.filter((row) => row.created).map((row) => row.tx_id));
      const stored = txs.filter(({ txId }) => created.has(txId));
      await insertBlobs(tx, stored);
      await insertAuthorizations(tx, stored);
      return rows;
    });
  }

  async countInFlight(signers: readonly SignerId[], upTo: number): Promise<number[]> {
    if (signers.length === 0) return [];
    const { rows } = await this.database.query<{ count: number }>(sql.COUNT_IN_FLIGHT, [
      ...signerColumns(signers),
      upTo,
    ]);
    return rows.map(({ count }) => count);
  }

  async inFlightAround(slots: readonly SlotRef[]): Promise<InFlightAround[]> {
    const { rows } = await this.database.query<{ below: number; passed: boolean }>(
      sql.IN_FLIGHT_AROUND,
      slotColumns(slots),
    );
    return rows.map(({ below, passed }) => ({ below, isPassed: passed }));
  }

  waitingForPool(wanted: readonly Pick<SignerRoom, 'signer' | 'room'>[]): Promise<ManagedTx[]> {
    return this.read(sql.WAITING_FOR_POOL, [
      ...signerColumns(wanted.map(({ signer }) => signer)),
      wanted.map(({ room }) => room),
    ]);
  }

  async kindsInFlight(signers: readonly SignerId[]): Promise<(PoolKind | null)[]> {
    const { rows } = await this.database.query<{ kind: PoolKind | null }>(sql.KINDS_IN_FLIGHT, signerColumns(signers));
    return rows.map(({ kind }) => kind);
  }

  async nextPending(wanted: readonly SignerRoom[]): Promise<PendingTx[]> {
    if (wanted.length === 0) return [];
    const { rows } = await this.database.query<RequestRow & { expired: boolean; tried: boolean }>(sql.NEXT_PENDING, [
      ...signerColumns(wanted.map(({ signer }) => signer)),
      wanted.map(({ room }) => room),
      wanted.map(({ after }) => (after ? -after.priority : BELOW_ALL_RANKS)),
      wanted.map(({ after }) => after?.txId ?? '00000000-0000-0000-0000-000000000000'),
    ]);
    return rows.map((row) => ({
      tx: toManagedTx(row),
      request: toRequest(row),
      expired: row.expired,
      wasTried: row.tried,
    }));
  }

  lockPending(fence: Fence, txs: readonly ManagedTx[]): Promise<ReadonlySet<string>> {
    return this.lock(fence, sql.LOCK_PENDING, txs);
  }

  lockForNonce(fence: Fence, txs: readonly ManagedTx[]): Promise<ReadonlySet<string>> {
    return this.lock(fence, sql.LOCK_FOR_NONCE, txs);
  }

  async allocated(signers: readonly SignerId[]): Promise<RequestedTx[]> {
    const { rows } = await this.database.query<RequestRow>(sql.ALLOCATED, signerColumns(signers));
    return rows.map((row) => ({ tx: toManagedTx(row), request: toRequest(row) }));
  }

  async lowestUnmined(signers: readonly SignerId[], perSigner: number): Promise<UnminedTx[]> {
    if (signers.length === 0) return [];
    const { rows } = await this.database.query<UnminedRow>(sql.LOWEST_UNMINED, [...signerColumns(signers), perSigner]);
    return rows.map((row) => ({ tx: toManagedTx(row), newest: newestOf(row) }));
  }

  dueForResubmit(chainId: ChainId, signers: readonly SignerId[], limit: number): Promise<ManagedTx[]> {
    return this.read(sql.DUE_FOR_RESUBMIT, [chainId, signers.map(({ address }) => address), limit]);
  }

  dueForReceiptCheck(chainId: ChainId, signers: readonly SignerId[], limit: number): Promise<ManagedTx[]> {
    return this.read(sql.DUE_FOR_RECEIPT, [chainId, signers.map(({ address }) => address), limit]);
  }

  async anyMined(chainId: ChainId): Promise<boolean> {
    const { rowCount } = await this.database.query(sql.ANY_MINED, [chainId]);
    return rowCount === 1;
  }

  minedUpTo(
    chainId: ChainId,
    signers: readonly SignerId[],
    { byRule, head, ceiling }: FinalHeights,
    { skip, limit }: { readonly skip: number; readonly limit: number },
  ): Promise<ManagedTx[]> {
    const addresses = signers.map(({ address }) => address);
    return this.read(sql.MINED_UP_TO, [chainId, addresses, byRule, head, ceiling, limit, skip]);
  }

  minedIn(chainId: ChainId, signers: readonly SignerId[], blockHashes: readonly Hash[]): Promise<ManagedTx[]> {
    return this.read(sql.MINED_IN, [chainId, signers.map(({ address }) => address), blockHashes]);
  }

  finalIn(chainId: ChainId, lowest: number, blockHashes: readonly Hash[]): Promise<ManagedTx[]> {
    return this.read(sql.FINAL_IN, [chainId, lowest, blockHashes]);
  }

  newestFinal(chainId: ChainId, below: readonly SlotRef[] | null, perSigner: number): Promise<ManagedTx[]> {
    const signers = below?.map(({ signer }) => signer.address) ?? null;
    const nonces = below?.map(({ nonce }) => nonce) ?? null;
    return this.read(sql.NEWEST_FINAL, [chainId, signers, nonces, perSigner]);
  }

  async requested(txIds: readonly string[]): Promise<RequestedTx[]> {
    if (txIds.length === 0) return [];
    const { rows } = await this.database.query<RequestRow>(sql.REQUESTED, [txIds]);
    return rows.map((row) => ({ tx: toManagedTx(row), request: toRequest(row) }));
  }

  async oldestUnmined(signers: readonly SignerId[], besides: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.database.query<{ chain_id: string; signer: string; tx_id: string | null }>(
      sql.OLDEST_UNMINED,
      [...signerColumns(signers), besides],
    );
    return new Map(
      rows.flatMap((row): [string, string][] =>
        row.tx_id === null ? [] : [[signerKey(parseSigner(row.chain_id, row.signer)), row.tx_id]],
      ),
    );
  }

  async committedWei(signers: readonly SignerId[]): Promise<bigint[]> {
    const { rows } = await this.database.query<{ wei: string }>(sql.COMMITTED_WEI, signerColumns(signers));
    return rows.map(({ wei }) => BigInt(wei));
  }

  byIds(txIds: readonly string[]): Promise<ManagedTx[]> {
    return this.read(sql.BY_IDS, [txIds]);
  }

  async rivals(txs: readonly ManagedTx[]): Promise<ManagedTx[]> {
    if (txs.length === 0) return [];
    return this.read(sql.RIVALS, [...slotColumns(txs), txs.map(({ id }) => id)]);
  }

  signersWithWork(chainId: ChainId): Promise<SignerWork[]> {
    return this.readWork(sql.SIGNERS_WITH_WORK, chainId);
  }

  signersInWork(chainId: ChainId): Promise<SignerWork[]> {
    return this.readWork(sql.SIGNERS_IN_WORK, chainId);
  }

  private async readWork(statement: Statement, chainId: ChainId): Promise<SignerWork[]> {
    const { rows } = await this.database.query<{ signer: string; pending: boolean; lease: SignerWork['lease'] }>(
      statement,
      [chainId, this.node.id],
    );
    return rows.map((row) => ({
      signer: { chainId, address: parseAddress(row.signer) },
      hasPending: row.pending,
      lease: row.lease,
    }));
  }

  async markReceiptsDue(fence: Fence, signers: readonly SignerId[], after: SlotRef | null): Promise<SlotRef | null> {
    const [first] = signers;
    if (!first) return null;
    const { chainId } = first;
    const { rows } = await PgTx.of(fence.tx).query<{ signer: string; nonce: string }>(sql.MARK_RECEIPTS_DUE, [
      chainId,
      signers.map(({ address }) => address),
      after?.signer.address ?? '',
      after?.nonce ?? -1,
      RECEIPT_PAGE_TXS,
    ]);
    const [last] = rows;
    return last ? { signer: { chainId, address: parseAddress(last.signer) }, nonce: BigInt(last.nonce) } : null;
  }

  async save(fence: Fence, txs: readonly ManagedTx[]): Promise<void> {
    if (txs.length === 0) return;
    // Sorted by id, so that two transactions never lock the same rows in opposite orders.
    const ordered = [...txs].sort((a, b) => (a.id < b.id ? -1 : 1));
    const { rowCount } = await PgTx.of(fence.tx).query(sql.SAVE, progressColumns(fence, ordered));
    if (rowCount !== ordered.length) {
      throw new Conflict('stale_copy', 'a transaction was changed since it was read', 'read it again', {
        expected: ordered.length,
        saved: rowCount,
      });
    }
  }

  async insertFills(fence: Fence, fills: readonly RequestedTx[]): Promise<void> {
    if (fills.length === 0) return;
    await PgTx.of(fence.tx).query(sql.INSERT_FILLS, [
      ...payloadColumns(fills.map(({ tx, request }) => ({ txId: tx.id, request }))),
      fills.map(({ tx }) => tx.nonce),
      fills.map(({ tx }) => tx.progress.gasLimit),
      fills.map(({ tx }) => fence.tokenFor(tx.signer)),
    ]);
  }

  private async lock(fence: Fence, statement: Statement, txs: readonly ManagedTx[]): Promise<ReadonlySet<string>> {
    const { rows } = await PgTx.of(fence.tx).query<{ tx_id: string; version: number }>(statement, [
      txs.map(({ id }) => id),
    ]);
    const read = new Map(txs.map(({ id, progress }) => [id, progress.version]));
    return new Set(rows.filter((row) => row.version === read.get(row.tx_id)).map((row) => row.tx_id));
  }

  private async read(statement: Statement, values: readonly SqlValue[]): Promise<ManagedTx[]> {
    const { rows } = await this.database.query<ProgressRow>(statement, values);
    return rows.map(toManagedTx);
  }

  private async lookUp(repeated: readonly NewTx[]): Promise<ReadonlyMap<string, AcceptedTx>> {
    if (repeated.length === 0) return new Map();
    const { rows } = await this.database.query<LookUpRow>(sql.LOOK_UP, [
      repeated.map(({ request }) => request.signer.chainId),
      repeated.map(({ request }) => request.signer.address),
      repeated.map(({ request }) => request.requestId),
    ]);
    return new Map(
      rows.flatMap((row): [string, AcceptedTx][] => {
        const asked = repeated[row.position - 1];
        return asked ? [[asked.txId, toAccepted(row)]] : [];
      }),
    );
  }
}

function newestOf({
  attempt_kind: kind,
  priced_at_block: block,
  error_class: errorClass,
}: UnminedRow): UnminedTx['newest'] {
  return kind === null ? null : { kind, pricedAtBlock: block === null ? null : Number(block), errorClass };
}

function toAccepted(row: LookUpRow): AcceptedTx {
  return {
    txId: row.tx_id,
    state: row.state,
    nonce: row.nonce === null ? null : BigInt(row.nonce),
    txHash: row.tx_hash === null ? null : parseHash(row.tx_hash),
    requestHash: parseHash(row.request_hash),
  };
}

function requestColumns(txs: readonly NewTx[]): SqlValue[] {
  return [
    ...payloadColumns(txs),
    txs.map(({ request }) => request.confirmations),
    txs.map(({ request }) => request.expiresAt),
    txs.map(({ request }) => (request.metadata === null ? null : JSON.stringify(request.metadata))),
  ];
}

function payloadColumns(txs: readonly { readonly txId: string; readonly request: StoredRequest }[]): SqlValue[] {
  return [
    txs.map(({ txId }) => txId),
    txs.map(({ request }) => request.signer.chainId),
    txs.map(({ request }) => request.signer.address),
    txs.map(({ request }) => request.requestId),
    txs.map(({ request }) => request.requestHash),
    txs.map(({ request }) => request.payload.to),
    txs.map(({ request }) => request.payload.value),
    txs.map(({ request }) => request.payload.data),
    txs.map(({ request }) => JSON.stringify(toStoredOptions(request))),
    txs.map(({ request }) => request.priority),
  ];
}

function progressColumns(fence: Fence, txs: readonly ManagedTx[]): SqlValue[] {
  const rows = txs.map((tx) => tx.progress);
  return [
    rows.map((row) => row.txId),
    rows.map((row) => row.state),
    rows.map((row) => row.subState),
    rows.map((row) => row.nonce),
    rows.map((row) => row.gasLimit),
    rows.map((row) => row.txHash),
    rows.map((row) => (row.receipt ? JSON.stringify(toStoredReceipt(row.receipt)) : null)),
    rows.map((row) => row.receipt?.blockNumber ?? null),
    rows.map((row) => row.receipt?.blockHash ?? null),
    rows.map((row) => row.failureReason),
    txs.map((tx) => timerColumn(tx.timers.resubmit)),
    txs.map((tx) => timerColumn(tx.timers.receiptCheck)),
    txs.map((tx) => tx.submitted),
    rows.map((row) => fence.tokenFor(row.signer)),
    rows.map((row) => row.version),
    rows.map((row) => row.tries),
    rows.map((row) => row.lastError),
    rows.map((row) => (row.closing ? JSON.stringify(row.closing) : null)),
    rows.map((row) => row.replacedBy),
  ];
}

function timerColumn(timer: Timer): number | null {
  if (timer === 'keep') return -1;
  return timer === 'clear' ? null : timer.inMs;
}
