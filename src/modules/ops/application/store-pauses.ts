import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../kernel/audit-log.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import { type Tx, UnitOfWork } from '../../../kernel/unit-of-work.js';
import { Log } from '../../../platform/logging/log.js';
import { EventLog, type SignerEvent } from '../../events/index.js';
import { type Pause, type PauseRequest, type PauseScope, SignerPauses } from '../../signers/index.js';
import { unknownSigner } from '../../../kernel/unknown-signer.js';

export interface PauseOrder extends PauseRequest {
  /** The operationId of the request. */
  readonly action: string;
}

/**
 * Writes pauses of operators and their ends, each in one commit with its entry in the audit log and its events: one of each signer, so that
 * whoever follows one hears of all. Of a stop of an account there is no event: signers are shared, and others go on.
 */
@Injectable()
export class StorePauses {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly pauses: SignerPauses,
    private readonly events: EventLog,
    private readonly audit: AuditLog,
    private readonly node: NodeIdentity,
    private readonly log: Log,
  ) {}

  /**
   * A second pause of the same scope changes nothing and returns the first one.
   * @throws NotFound `unknown_signer`
   */
  async pause(scope: PauseScope, order: PauseOrder): Promise<Pause> {
    const stored = await this.unitOfWork.run(async (tx) => {
      const signers = await this.signersIn(tx, scope);
      const { pause, changed } = await this.pauses.pause(tx, scope, order);
      await this.record(tx, scope, order);
      if (changed && !scope.account) await this.append(tx, 'paused', signers, scope, order);
      return pause;
    });
    this.log.warn(scope.account ? 'account stopped' : 'signer paused', { ...scope, ...told(order) });
    return stored;
  }

  /**
   * Ends the pause of this scope, and no other one that its signers have.
   * @returns the signers of the scope, also when there was no pause
   * @throws NotFound `unknown_signer`
   */
  async resume(scope: PauseScope, order: PauseOrder): Promise<SignerId[]> {
    const signers = await this.unitOfWork.run(async (tx) => {
      const known = await this.signersIn(tx, scope);
      await this.record(tx, scope, order);
      const changed = await this.pauses.resume(tx, scope);
      if (changed && !scope.account) await this.append(tx, 'resumed', known, scope, order);
      return known;
    });
    this.log.warn(scope.account ? 'account goes on' : 'signer resumed', { ...scope, ...told(order) });
    return signers;
  }

  /** Nobody need be there yet for a pause of everything, which also holds for signers that come later. */
  private async signersIn(tx: Tx, scope: PauseScope): Promise<SignerId[]> {
    const signers = await this.pauses.signers(tx, scope);
    if (signers.length === 0 && (scope.chainId !== null || scope.address !== null)) throw unknownSigner(scope);
    return signers;
  }

  private record(tx: Tx, scope: PauseScope, { by, action, reason }: PauseOrder): Promise<void> {
    return this.audit.record({ by, action, object: objectOf(scope), detail: { reason } }, tx);
  }

  private append(
    tx: Tx,
    reason: 'paused' | 'resumed',
    signers: readonly SignerId[],
    scope: PauseScope,
    order: PauseOrder,
  ): Promise<void> {
    const detail = { ...told(order), scope: scopeName(scope) };
    const events = signers.map((signer): SignerEvent => ({ signer, reason, detail }));
    return this.events.appendOfSigners(tx, { nodeId: this.node.id, tokenFor: () => null }, events);
  }
}

function told({ by, reason }: PauseRequest): { readonly by: string; readonly reason: string | null } {
  return { by: by.name, reason };
}

/** As the audit log names it. */
function objectOf(scope: PauseScope): string {
  if (scope.account) return `account:${scope.account.name}`;
  return [scopeName(scope), scope.chainId, scope.address].filter((part) => part !== null).join(':');
}

function scopeName({ chainId, address }: PauseScope): 'signer' | 'address' | 'chain' | 'all' {
  if (address === null) return chainId === null ? 'all' : 'chain';
  return chainId === null ? 'address' : 'signer';
}
