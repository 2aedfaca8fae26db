import { Injectable } from '@nestjs/common';
import { parseAddress, parseHash } from '../../../kernel/hex.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { type ChainId, parseSigner, type SignerId } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import type { Fence } from '../../signers/index.js';
import type { MadePermit } from '../domain/permit.js';
import { PermitStore, type PermitStage, type PermitUse } from '../domain/permit-store.js';
import { type StoredPermit, toPermit, toStoredMade } from './managed-tx.rows.js';
import * as sql from './permit.statements.js';

interface OpenRow {
  permit_id: string;
  tx_id: string;
  request_hash: string;
  chain_id: string;
  contract: string;
  owner: string;
  sender: string;
  nonce: string | null;
  deadline: string | null;
  tries: number;
  now: string;
  /** `later`: others of its sender come up. */
  stage: PermitStage | 'later';
  item: StoredPermit | null;
}

@Injectable()
export class PgPermitStore extends PermitStore {
  constructor(
    private readonly database: Database,
    private readonly node: NodeIdentity,
  ) {
    super();
  }

  async open(chainId: ChainId, owners: readonly SignerId[]): Promise<PermitUse[]> {
    const { rows } = await this.database.query<OpenRow>(sql.OPEN, [chainId, owners.map(({ address }) => address)]);
    const later = rows.flatMap(({ permit_id: id, stage }) => (stage === 'later' ? [id] : []));
    if (later.length > 0) await this.database.query(sql.LATER, [later]);
    return rows.flatMap((row) => (row.stage === 'later' ? [] : [toUse(row, row.stage)]));
  }

  async mayMake(use: PermitUse, permitNonce: bigint, policyMark: string): Promise<boolean> {
    const { txId, id, requestHash } = use;
    const values = [txId, id, requestHash, use.permitNonce, permitNonce, policyMark];
    return (await this.database.query(sql.MAY_MAKE, values)).rowCount === 1;
  }

  async make(fence: Fence, use: PermitUse, made: MadePermit, policyMark: string): Promise<boolean> {
    const { rowCount } = await PgTx.of(fence.tx).query(sql.MAKE, [
      use.txId,
      use.id,
      use.requestHash,
      use.permitNonce,
      made.permitNonce,
      policyMark,
      JSON.stringify(toStoredMade(made)),
      fence.tokenFor(use.signer),
      this.node.id,
    ]);
    return rowCount === 1;
  }

  async withdraw(fence: Fence, use: PermitUse, pauseMs: number): Promise<boolean> {
    const values = [use.txId, use.id, use.requestHash, use.permitNonce, pauseMs, fence.tokenFor(use.signer)];
    const { rowCount } = await PgTx.of(fence.tx).query(sql.WITHDRAW, values);
    return rowCount === 1;
  }

  async end(fence: Fence, { id, signer, permitNonce }: PermitUse, isUsed: boolean): Promise<boolean> {
    const token = fence.tokenFor(signer);
    const { rowCount } =
      permitNonce === null
        ? await PgTx.of(fence.tx).query(sql.FORGET, [id])
        : await PgTx.of(fence.tx).query(sql.END, [id, permitNonce, isUsed ? 'CONSUMED' : 'RELEASED', token]);
    return rowCount === 1;
  }

  async lapse(fence: Fence, { id, signer, permitNonce }: PermitUse): Promise<boolean> {
    const { rowCount } = await PgTx.of(fence.tx).query(sql.LAPSE, [id, permitNonce, fence.tokenFor(signer)]);
    return rowCount === 1;
  }

  async postpone({ id }: PermitUse, pauseMs: number): Promise<void> {
    await this.database.query(sql.POSTPONE, [id, pauseMs]);
  }
}

function toUse(row: OpenRow, stage: PermitStage): PermitUse {
  return {
    id: row.permit_id,
    txId: row.tx_id,
    requestHash: parseHash(row.request_hash),
    signer: parseSigner(row.chain_id, row.owner),
    sender: parseSigner(row.chain_id, row.sender),
    stage,
    permit: row.item && toPermit(row.item),
    contract: parseAddress(row.contract),
    permitNonce: row.nonce === null ? null : BigInt(row.nonce),
    deadline: row.deadline === null ? null : BigInt(row.deadline),
    now: BigInt(row.now),
    tries: row.tries,
  };
}
