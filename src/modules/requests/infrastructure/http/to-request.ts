import { type Caller, isUnlimited, mayUse, missingScope, outsideLimits } from '../../../../kernel/caller.js';
import { InvalidInput } from '../../../../kernel/errors.js';
import { parseHex } from '../../../../kernel/hex.js';
import type { JsonObject } from '../../../../kernel/json.js';
import { parseQuantity } from '../../../../kernel/quantities.js';
import { parseTime } from '../../../../kernel/time.js';
import type { ChainId, SignerId } from '../../../../kernel/signer-id.js';
import { clientAddress } from '../../../../platform/http/client-address.js';
import { awaitedAuthorities, type TxPayload, type TxRequest } from '../../../ledger/index.js';
import type { CreateTxDto, PayloadDto } from './create-tx.dto.js';
import { toFees } from './to-fees.js';
import { type CallData, toCallData } from './to-call-data.js';
import { toPermits } from './to-permits.js';
import { toAuthorizations } from './to-authorizations.js';
import { isRequestId } from './request-id.js';

/** The largest gas limit that fits the BIGINT of the database; far above that of any block. */
const MAX_GAS = (1n << 63n) - 1n;

/** Turns a validated body into domain types. @throws Forbidden `outside_limits` for signers that the sender may not use; and what is no request */
export function toRequest(
  body: CreateTxDto,
  chainId: ChainId,
  idempotencyKey: string | undefined,
  sender: Caller,
): Omit<TxRequest, 'requestHash'> {
  const signer = { chainId, address: clientAddress(body.signer, chainId) };
  const payload = toPayload(body.payload, signer);
  assertMayUse(sender, signer, payload);
  return {
    signer,
    sender,
    requestId: requestIdOf(body.requestId, idempotencyKey),
    payload,
    fees: toFees(body.fees, body.payload),
    speed: body.speed ?? 'standard',
    priority: body.priority ?? 0,
    confirmations: body.confirmations ?? null,
    expiresAt: body.expiresAt == null ? null : parseTime(body.expiresAt),
    metadata: body.metadata == null ? null : (body.metadata as JsonObject),
    ...(body.callback == null ? {} : { callback: body.callback.toLowerCase() }),
  };
}

/** It signs, and so does each signer whose authorization or permit Lockstep is asked for. An authorization for chain 0 counts on all chains. */
function assertMayUse(sender: Caller, signer: SignerId, { authorizationList = [], permits = [] }: TxPayload): void {
  const addresses = [...awaitedAuthorities(authorizationList), ...permits.map(({ owner }) => owner)];
  const others = addresses.map((address) => ({ ...signer, address }));
  if (![signer, ...others].every((one) => mayUse(sender, one))) throw outsideLimits('a signer of the request is');
  if (permits.length > 0 && !sender.scopes.includes('typed-data'))
    throw missingScope(['typed-data'], 'the key or token lacks what payload.permits needs');
  const isForAll = authorizationList.some((item) => !('r' in item) && item.chainId === 0n);
  if (isForAll && !isUnlimited(sender)) throw outsideLimits('an authorization for every chain is');
}

function toPayload(payload: PayloadDto, signer: SignerId): TxPayload {
  const call = dataOf(payload, signer.chainId);
  const { data } = call;
  if (payload.to == null && data === '0x') {
    throw new InvalidInput(
      'invalid_payload',
      'payload has neither a receiver nor init code',
      'set payload.to, or payload.data to create a contract',
    );
  }
  const isSpecial = payload.blobs != null || payload.authorizationList != null;
  if (payload.to == null && isSpecial) {
    throw new InvalidInput(
      'invalid_payload',
      'a transaction with blobs or authorizations cannot create a contract',
      'set payload.to, for example to the signer itself',
    );
  }
  if (payload.blobs != null && payload.authorizationList != null) {
    throw new InvalidInput(
      'invalid_payload',
      'a transaction cannot have both blobs and authorizations',
      'send two transactions',
    );
  }
  const gasLimit = payload.gasLimit == null ? null : parseQuantity(payload.gasLimit, MAX_GAS);
  if (gasLimit === 0n)
    throw new InvalidInput('invalid_quantity', 'payload.gasLimit is 0', 'leave it out, and Lockstep estimates it');
  const authorizationList = payload.authorizationList && toAuthorizations(payload.authorizationList, signer);
  if (gasLimit === null && authorizationList?.some((item) => 'signer' in item) === true) {
    throw new InvalidInput(
      'gas_limit_required',
      'no node can estimate the gas of an authorization that is not signed yet',
      'set payload.gasLimit: 25,000 for each authorization, above what the call needs',
    );
  }
  return {
    to: payload.to == null ? null : clientAddress(payload.to, signer.chainId),
    value: parseQuantity(payload.value ?? '0'),
    data,
    gasLimit,
    accessList: (payload.accessList ?? []).map(({ address, storageKeys }) => ({
      address: clientAddress(address, signer.chainId),
      storageKeys: storageKeys.map(parseHex),
    })),
    ...(authorizationList && { authorizationList }),
    ...(payload.permits != null && { permits: toPermits(payload.permits, call, signer) }),
  };
}

function dataOf({ to, data, call, permits }: PayloadDto, chainId: ChainId): CallData {
  if (call == null && permits != null)
    throw new InvalidInput('invalid_permit', 'permits need a call', 'send payload.call in place of payload.data');
  if (call == null) return { data: parseHex(data ?? '0x'), places: [], addresses: [] };
  if (data != null) throw new InvalidInput('invalid_payload', 'payload has both data and a call', 'send one of them');
  if (to == null)
    throw new InvalidInput(
      'invalid_payload',
      'a call has no receiver',
      'set payload.to to the address of the contract',
    );
  return toCallData(call, chainId, permits?.length);
}

export function requestIdOf(inBody: string | null | undefined, inHeader: string | undefined): string {
  if (inBody != null && inHeader !== undefined && inBody !== inHeader) {
    throw new InvalidInput(
      'request_id_mismatch',
      'requestId and the Idempotency-Key header differ',
      'send one of them, or both with the same value',
    );
  }
  const requestId = inBody ?? inHeader;
  if (requestId === undefined || requestId === '') {
    throw new InvalidInput(
      'missing_request_id',
      'requestId is missing',
      'send a requestId that is unique per signer: a repeated request never sends twice',
    );
  }
  if (!isRequestId(requestId)) {
    throw new InvalidInput(
      'invalid_request_id',
      'requestId has more than 200 characters, or characters that are not text',
      'send up to 200 printable characters',
    );
  }
  return requestId;
}
