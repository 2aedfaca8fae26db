import type { Caller } from '../../../../kernel/caller.js';
import { InvalidInput } from '../../../../kernel/errors.js';
import type { Hash } from '../../../../kernel/hex.js';
import { canonicalJson } from '../../../../kernel/json.js';
import { toDecimals } from '../../../../kernel/quantities.js';
import { parseSigner } from '../../../../kernel/signer-id.js';
import { hashRequest, type TxRequest, requestText, type TxView } from '../../../ledger/index.js';
import { CreateTxDto, type ProveBlobs, requestIdOf, toBlobs, toFees, toTxRequest } from '../../../requests/index.js';
import type { CommandInput } from '../../application/submit-command.js';
import type { CommandKind, HoldCommandKind } from '../../domain/tx-command.js';
import type { CancelTxDto, ReplaceTxDto, SpeedUpTxDto } from './commands.dto.js';
import type { HoldCommandDto } from './hold-commands.dto.js';

export function toCancel({ txId }: TxView, body: CancelTxDto, key: string | undefined, sender: Caller): CommandInput {
  const requestId = optionalId(body.requestId, key);
  return { txId, sender, kind: 'cancel', requestId, requestHash: hashOf('cancel', txId), fees: null, request: null };
}

/** @param said the hash of a consume, or the seconds of an extend */
export function toHoldCommand<Said extends { readonly txHash?: Hash; readonly ttl?: number }>(
  kind: HoldCommandKind,
  { txId }: TxView,
  body: HoldCommandDto,
  said: Said,
  key: string | undefined,
  sender: Caller,
): CommandInput & Said {
  const requestId = optionalId(body.requestId, key);
  const requestHash = hashRequest(canonicalJson({ kind, txId, ...said }));
  return { txId, sender, kind, requestId, requestHash, fees: null, request: null, ...said };
}

/** @throws InvalidInput `invalid_fees` for fees that its kind of transaction does not have */
export function toSpeedUp(
  { txId, payload }: TxView,
  body: SpeedUpTxDto,
  key: string | undefined,
  sender: Caller,
): CommandInput {
  const requestId = optionalId(body.requestId, key);
  const fees = body.fees == null ? null : toFees(body.fees, kindOf(payload));
  return {
    txId,
    sender,
    kind: 'speed_up',
    requestId,
    requestHash: hashOf('speed_up', txId, fees),
    fees,
    request: null,
  };
}

/** @throws InvalidInput `not_in_replacement`, `invalid_blob` */
export async function toReplace(
  tx: TxView,
  body: ReplaceTxDto,
  key: string | undefined,
  sender: Caller,
  proveBlobs: ProveBlobs,
): Promise<CommandInput & { request: TxRequest }> {
  assertReplaceable(body);
  const { txId, chainId, signer, priority } = tx;
  const asked = await proveBlobs.execute(
    toTxRequest(Object.assign(new CreateTxDto(), body, { signer, priority }), chainId, key, sender),
    toBlobs(body.payload.blobs ?? []),
  );
  const text = requestText(asked);
  const request = { ...asked, signer: parseSigner(String(chainId), signer), requestHash: hashRequest(text) };
  const requestHash = hashRequest(canonicalJson({ kind: 'replace', txId, request: text }));
  return { txId, sender, kind: 'replace', requestId: request.requestId, requestHash, fees: null, request };
}

/** A permit that its rival has may be used when the replacement is mined. An authorization of its own uses the nonce after that of its transaction, which another transaction may have already. */
function assertReplaceable({ payload }: ReplaceTxDto): void {
  const names = payload.authorizationList?.some(({ signer }) => signer != null) ?? false;
  if (!names && payload.permits == null) return;
  throw new InvalidInput(
    'not_in_replacement',
    'a replacement cannot have authorizations or permits that Lockstep signs',
    'cancel the transaction, and create another one',
  );
}

function kindOf({ blobs, authorizationList }: TxView['payload']): Parameters<typeof toFees>[1] {
  return { ...(blobs.length > 0 && { blobs: [] }), ...(authorizationList.length > 0 && { authorizationList: [] }) };
}

/** Most need no key: a repeated cancel changes nothing, nor does what is said of a hold again, and each speed-up without one is another. */
export function optionalId(inBody: string | null | undefined, inHeader: string | undefined): string | null {
  return inBody == null && inHeader === undefined ? null : requestIdOf(inBody, inHeader);
}

function hashOf(kind: CommandKind, txId: string, fees: TxRequest['fees'] | null = null): Hash {
  return hashRequest(canonicalJson({ kind, txId, fees: fees && toDecimals(fees) }));
}
