import { Injectable } from '@nestjs/common';
import { IdGenerator } from '../../../../kernel/id-generator.js';
import { TRANSFER_GAS } from '../../../../kernel/transaction-gas.js';
import type { SlotRef } from '../../../signers/index.js';
import { ManagedTx } from '../../domain/managed-tx.js';
import type { RequestedTx } from '../../domain/managed-tx.repository.js';
import { NO_FEES, noOpPayload } from '../../domain/tx-request.js';
import { hashRequest, requestText } from '../request-hash.js';

/** Makes fills: managed txs that Lockstep sends from the signer to itself, with no value, to consume a nonce gap. */
@Injectable()
export class NewFills {
  constructor(private readonly ids: IdGenerator) {}

  /**
   * @param gasLimit gas of its attempts
   * @param replaces id of a tx that left the nonce free
   */
  at({ signer, nonce }: SlotRef, gasLimit = TRANSFER_GAS, replaces: string | null = null): RequestedTx {
    const txId = this.ids.next();
    const request = {
      signer,
      requestId: `fill-${txId}`,
      payload: { ...noOpPayload(signer.address, 2), gasLimit: null },
      fees: NO_FEES,
      // Everything behind the nonce gap waits for the fill.
      speed: 'fast' as const,
      priority: 0,
      confirmations: null,
      expiresAt: null,
    };
    const requestHash = hashRequest(requestText(request));
    return { tx: ManagedTx.fill(txId, signer, nonce, gasLimit, replaces), request: { ...request, requestHash } };
  }
}
