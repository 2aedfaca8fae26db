import { Injectable } from '@nestjs/common';
import { parseAddress } from '../../../kernel/hex.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { type ChainId, type Nonce, parseSigner, type SignerId } from '../../../kernel/signer-id.js';
import { chainLockKey } from '../../../platform/database/advisory-locks.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import type { Fence } from '../../signers/index.js';
import type { SignedAuthorization } from '../domain/authorization.js';
import { AuthorizationStore, type Grant, type GrantStage } from '../domain/authorization-store.js';
import * as sql from './authorization.statements.js';
import { type StoredAuthorization, toStoredAuthorization } from './managed-tx.rows.js';

interface OpenRow {
  grant_id: string;
  tx_id: string;
  chain_id: string;
  authority: string;
  sender: string;
  nonce: string | null;
  tries: number;
  stage: GrantStage;
  item: StoredAuthorization | null;
  ready: boolean;
}

@Injectable()
export class PgAuthorizationStore extends AuthorizationStore {
  constructor(
    private readonly database: Database,
    private readonly node: NodeIdentity,
  ) {
    super();
  }

  async open(chainId: ChainId, authorities: readonly SignerId[]): Promise<Grant[]> {
    const { rows } = await this.database.query<OpenRow>(sql.OPEN, [chainId, authorities.map(({ address }) => address)]);
    return rows.map(toGrant);
  }

  async grant(fence: Fence, grant: Grant, signed: SignedAuthorization, policyMark: string): Promise<boolean> {
    const { rows } = await PgTx.of(fence.tx).query<{ taken: boolean }>(sql.ONE_AT_A_TIME, [
      chainLockKey(grant.signer.chainId),
      policyMark,
    ]);
    if (!rows[0]?.taken) return false;
    const { nonce, yParity, r, s } = toStoredAuthorization(signed);
    return this.write(fence, sql.GRANT, grant, JSON.stringify({ nonce, yParity, r, s }), 'signed', signed.nonce);
  }

  async withdraw(fence: Fence, grant: Grant, pauseMs: number): Promise<boolean> {
    return this.write(fence, sql.WITHDRAW, grant, pauseMs, 'withdrawn', grant.nonce);
  }

  async expire(fence: Fence, { id, txId, signer, nonce }: Grant): Promise<void> {
    fence.tokenFor(signer);
    await PgTx.of(fence.tx).query(sql.EXPIRE, [txId, signer.address, id, nonce, this.node.id, 'expired']);
  }

  async end(fence: Fence, { id, txId, signer, nonce }: Grant): Promise<boolean> {
    fence.tokenFor(signer);
    const { rowCount } = await PgTx.of(fence.tx).query(sql.END, [id, nonce, txId]);
    return rowCount === 1;
  }

  async postpone({ txId }: Grant, pauseMs: number): Promise<void> {
    await this.database.query(sql.POSTPONE, [txId, pauseMs]);
  }

  private async write(
    fence: Fence,
    statement: typeof sql.GRANT,
    { id, txId, signer }: Grant,
    change: string | number,
    event: string,
    nonce: Nonce | null,
  ): Promise<boolean> {
    fence.tokenFor(signer);
    const values = [txId, signer.address, id, change, this.node.id, event, nonce];
    const { rowCount } = await PgTx.of(fence.tx).query(statement, values);
    return rowCount === 1;
  }
}

function toGrant({ grant_id, tx_id, chain_id, authority, sender, nonce, tries, stage, item, ready }: OpenRow): Grant {
  return {
    id: grant_id,
    txId: tx_id,
    signer: parseSigner(chain_id, authority),
    sender: parseSigner(chain_id, sender),
    stage,
    target: item && { chainId: BigInt(item.chainId), address: parseAddress(item.address) },
    nonce: nonce === null ? null : BigInt(nonce),
    isReady: ready,
    tries,
  };
}
