import { InvalidInput } from '../../../../kernel/errors.js';
import type { Hash } from '../../../../kernel/hex.js';
import { canonicalJson } from '../../../../kernel/json.js';
import { parseSigner } from '../../../../kernel/signer-id.js';
import {
  CreateTxDto,
  hashRequest,
  requestIdOf,
  type RequestedFees,
  requestText,
  toFees,
  toStoredFees,
  toTxRequest,
  type TxRequest,
  type TxView,
} from '../../../transactions/index.js';
import type { CommandInput } from '../../application/submit-command.js';
import type { CommandKind } from '../../domain/tx-command.js';
import type { CancelTxDto, ReplaceTxDto, SpeedUpTxDto } from './commands.dto.js';

export function toCancel({ txId }: TxView, body: CancelTxDto, key: string | undefined): CommandInput {
  const requestId = optionalId(body.requestId, key);
  return { txId, kind: 'cancel', requestId, requestHash: hashOf('cancel', txId), fees: null, request: null };
}

export function toSpeedUp({ txId }: TxView, body: SpeedUpTxDto, key: string | undefined): CommandInput {
  const requestId = optionalId(body.requestId, key);
  const fees = body.fees == null ? null : toFees(body.fees, null);
  return { txId, kind: 'speed_up', requestId, requestHash: hashOf('speed_up', txId, fees), fees, request: null };
}

export function toReplace(
  tx: TxView,
  body: ReplaceTxDto,
  key: string | undefined,
): CommandInput & { request: TxRequest } {
  assertReplaceable(body);
  const { txId, chainId, signer, priority } = tx;
  const asked = toTxRequest(Object.assign(new CreateTxDto(), body, { signer, priority }), chainId, key);
  const text = requestText(asked);
  const request = { ...asked, signer: parseSigner(String(chainId), signer), requestHash: hashRequest(text) };
  const requestHash = hashRequest(canonicalJson({ kind: 'replace', txId, request: text }));
  return { txId, kind: 'replace', requestId: request.requestId, requestHash, fees: null, request };
}

/** Blobs and own authorizations depend on what is in flight beside them, and on nonces of their own. */
function assertReplaceable({ payload }: ReplaceTxDto): void {
  const names = payload.authorizationList?.some(({ signer }) => signer != null) ?? false;
  if (payload.blobs == null && !names) return;
  throw new InvalidInput(
    'not_in_replacement',
    'a replacement cannot have blobs, or authorizations that Lockstep signs',
    'cancel the transaction, and create another one',
  );
}

/** Cancel and speed-up need no key: a repeated cancel changes nothing, and each speed-up without one is another. */
function optionalId(inBody: string | null | undefined, inHeader: string | undefined): string | null {
  return inBody == null && inHeader === undefined ? null : requestIdOf(inBody, inHeader);
}

function hashOf(kind: CommandKind, txId: string, fees: RequestedFees | null = null): Hash {
  return hashRequest(canonicalJson({ kind, txId, fees: fees && { ...toStoredFees(fees) } }));
}
