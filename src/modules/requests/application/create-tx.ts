import { Injectable } from '@nestjs/common';
import { Conflict, Unavailable, Unprocessable } from '../../../kernel/errors.js';
import type { Hash } from '../../../kernel/hex.js';
import { IdGenerator } from '../../../kernel/id-generator.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { Router } from '../../signers/index.js';
import {
  awaitedAuthorities,
  Doorbell,
  hashRequest,
  ownerOf,
  requestText,
  type TxRequest,
  type TxState,
} from '../../ledger/index.js';
import { IntakeBatcher, type Together } from './intake-batcher.js';
import { IntakeRules } from './intake-rules.js';
import type { IsRepeated } from './stored-requests.js';

export interface CreatedTx {
  readonly txId: string;
  readonly signer: SignerId;
  readonly requestId: string;
  readonly state: TxState;
  readonly nonce: bigint | null;
  readonly txHash: Hash | null;
  /** The signer is paused: the tx gets no nonce until an operator resumes it. */
  readonly isPaused: boolean;
  /** The address of the contract that it creates, as soon as its nonce is known; null otherwise. */
  readonly contractAddress: string | null;
  /** False when the same request was stored before. */
  readonly isNew: boolean;
}

/** A request that keeps the rules of intake, with what is computed of it. */
export interface PreparedTx {
  readonly txId: string;
  readonly request: TxRequest;
  /** About the memory that it takes. */
  readonly bytes: number;
}

/** Stores a request once per `(account, signer, requestId)` (docs/invariants.md, I3), and wakes the node that acts for the signer. */
@Injectable()
export class CreateTx {
  constructor(
    private readonly intake: IntakeBatcher,
    private readonly ids: IdGenerator,
    private readonly doorbell: Doorbell,
    private readonly metrics: Metrics,
    private readonly rules: IntakeRules,
    private readonly router: Router,
  ) {}

  /** What `prepare` and `store` do and throw. */
  async execute(input: Omit<TxRequest, 'requestHash'>, isRepeated: IsRepeated): Promise<CreatedTx> {
    return this.store(await this.prepare(input, isRepeated), null);
  }

  /**
   * The part of the work that a batch does item by item, while others have the thread.
   * @throws what {@link IntakeRules} throws
   */
  async prepare(input: Omit<TxRequest, 'requestHash'>, isRepeated: IsRepeated): Promise<PreparedTx> {
    await this.rules.assertAcceptable(input, isRepeated);
    const text = requestText(input);
    const request: TxRequest = { ...input, requestHash: hashRequest(text) };
    return { txId: this.ids.next(), request, bytes: text.length + sidecarBytes(request) };
  }

  /**
   * @param together see {@link IntakeBatcher.submit}
   * @throws Unprocessable `unknown_signer`, `unknown_authority`
   * @throws Unavailable `signer_unavailable`
   * @throws Conflict `idempotency_conflict` when the key was used for another request; then nothing changes
   */
  async store({ txId, request, bytes }: PreparedTx, together: Together | null): Promise<CreatedTx> {
    const { signer, requestId } = request;
    const isServed = this.router.isServed(signer);
    const intake = await this.intake.submit({ txId, request, isServed }, bytes, together);
    switch (intake.kind) {
      case 'unknown_signer':
        this.metrics.count('tx_create_total', 1, { result: 'unknown_signer' });
        throw new Unprocessable(
          'unknown_signer',
          `no signer ${signer.address} on chain ${signer.chainId}`,
          'GET /api/v1/signers lists the signers',
          { ...signer },
        );
      case 'unknown_authority':
        this.metrics.count('tx_create_total', 1, { result: 'unknown_authority' });
        throw new Unprocessable(
          'unknown_authority',
          `no signer ${intake.authority} on chain ${signer.chainId} could sign the authorization`,
          'GET /api/v1/signers lists the signers; an authorization of another account needs its signature',
          { chainId: signer.chainId, address: intake.authority },
        );
      case 'unserved_signer':
        this.metrics.count('tx_create_total', 1, { result: 'unserved_signer' });
        throw new Unavailable(
          'signer_unavailable',
          `no live node has the key of ${signer.address} on chain ${signer.chainId}; nothing was stored`,
          'add the signer to the config of a node again, or use another signer; if its node restarts, try again later',
          { ...signer },
        );
      case 'created':
        this.metrics.count('tx_create_total', 1, { result: 'created' });
        this.doorbell.ring([signer, ...othersOf(request)]);
        return {
          txId: intake.txId,
          signer,
          requestId,
          state: 'PENDING',
          nonce: null,
          txHash: null,
          isPaused: intake.isPaused,
          contractAddress: null,
          isNew: true,
        };
      case 'exists': {
        const { txId, state, nonce, txHash, contractAddress, requestHash } = intake.tx;
        if (requestHash !== request.requestHash) {
          this.metrics.count('tx_create_total', 1, { result: 'conflict' });
          throw new Conflict(
            'idempotency_conflict',
            'this requestId was used for a different request',
            'use a new requestId, or send the first body unchanged',
            { txId, requestId },
          );
        }
        this.metrics.count('tx_create_total', 1, { result: 'exists' });
        return {
          txId,
          signer,
          requestId,
          state,
          nonce,
          txHash,
          isPaused: intake.isPaused,
          contractAddress,
          isNew: false,
        };
      }
    }
  }
}

/** The other signers that have to sign for it. */
function othersOf(request: TxRequest): SignerId[] {
  const { signer, payload } = request;
  const authorities = awaitedAuthorities(payload.authorizationList);
  const owners = (payload.permits ?? []).map((permit) => ownerOf(permit, request));
  return [...authorities.map((address) => ({ chainId: signer.chainId, address })), ...owners];
}

/** About the memory that the blobs take. */
function sidecarBytes({ sidecar }: Pick<TxRequest, 'sidecar'>): number {
  return (sidecar?.blobs ?? []).reduce((sum, blob) => sum + blob.length, 0);
}
