import { InvalidInput } from '../../../../kernel/errors.js';
import { parseAddress, parseHex } from '../../../../kernel/hex.js';
import type { JsonObject } from '../../../../kernel/json.js';
import { parseQuantity } from '../../../../kernel/quantities.js';
import type { ChainId } from '../../../../kernel/signer-id.js';
import type { TxPayload, TxRequest } from '../../domain/tx-request.js';
import type { CreateTxDto, PayloadDto } from './create-tx.dto.js';

/** The largest gas limit that fits the database's BIGINT; far above any block's. */
const MAX_GAS = (1n << 63n) - 1n;

/** A validated body in domain terms. */
export function toRequest(
  body: CreateTxDto,
  chainId: ChainId,
  idempotencyKey: string | undefined,
): Omit<TxRequest, 'requestHash'> {
  return {
    signer: { chainId, address: parseAddress(body.signer) },
    requestId: requestIdOf(body.requestId, idempotencyKey),
    payload: toPayload(body.payload),
    fees: {
      maxFeePerGas: optional(body.fees?.maxFeePerGas),
      maxPriorityFeePerGas: optional(body.fees?.maxPriorityFeePerGas),
    },
    speed: body.speed ?? 'standard',
    priority: body.priority ?? 0,
    expiresAt: body.expiresAt === undefined ? null : new Date(body.expiresAt),
    metadata: body.metadata === undefined ? null : (body.metadata as JsonObject),
  };
}

function toPayload(payload: PayloadDto): TxPayload {
  const data = parseHex(payload.data ?? '0x');
  if (payload.to === undefined && data === '0x') {
    throw new InvalidInput(
      'invalid_payload',
      'neither a receiver nor init code',
      'set payload.to, or payload.data to create a contract',
    );
  }
  const gasLimit = payload.gasLimit === undefined ? null : parseQuantity(payload.gasLimit, MAX_GAS);
  if (gasLimit === 0n)
    throw new InvalidInput('invalid_quantity', 'payload.gasLimit is 0', 'leave it out to have it estimated');
  return {
    to: payload.to === undefined ? null : parseAddress(payload.to),
    value: parseQuantity(payload.value ?? '0'),
    data,
    gasLimit,
    accessList: (payload.accessList ?? []).map(({ address, storageKeys }) => ({
      address: parseAddress(address),
      storageKeys: storageKeys.map(parseHex),
    })),
  };
}

function requestIdOf(inBody: string | undefined, inHeader: string | undefined): string {
  if (inBody !== undefined && inHeader !== undefined && inBody !== inHeader) {
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
      'no requestId',
      'send a requestId of your own, unique per signer: repeating it never sends twice',
    );
  }
  if (requestId.length > 200)
    throw new InvalidInput('invalid_request_id', 'requestId has more than 200 characters', 'send a shorter one');
  return requestId;
}

function optional(value: string | number | undefined): bigint | null {
  return value === undefined ? null : parseQuantity(value);
}
