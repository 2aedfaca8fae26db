import type { FeeQuote } from '../../chain/index.js';
import { mayBeInPool } from '../../ledger/domain/index.js';
import type { Attempt, TxRequest, TxType } from '../../ledger/index.js';

/** The type of a payload without an attempt (EIP-2718). */
export function txTypeOf(
  { payload, fees }: Pick<TxRequest, 'payload' | 'fees'>,
  quote: Pick<FeeQuote, 'hasBaseFee'>,
): TxType {
  if (payload.authorizationList) return 4;
  if (payload.blobHashes) return 3;
  if (fees.gasPrice !== null || !quote.hasBaseFee) return payload.accessList.length > 0 ? 1 : 0;
  return 2;
}

/**
 * The type of the attempt with the highest price among those that a pool may have; null when there is none. Whatever competes for the slot has to
 * be of this type: no pool lets a transaction with blobs replace one without, or the reverse.
 */
export function typeOfSlot(attempts: readonly Pick<Attempt, 'status' | 'fees' | 'type'>[]): TxType | null {
  const [first, ...others] = attempts.filter(mayBeInPool);
  if (!first) return null;
  return others.reduce((best, next) => (next.fees.maxFeePerGas > best.fees.maxFeePerGas ? next : best), first).type;
}

/**
 * The type of a payload that competes for a slot: that of what is out there, as far as it has fields for the payload. Pools take the types 0,
 * 1, 2 and 4 in place of one another (geth: one pool for all of them), and blobs only in place of blobs.
 */
export function competingType(
  request: Pick<TxRequest, 'payload' | 'fees'>,
  ofSlot: TxType | null,
  quote: Pick<FeeQuote, 'hasBaseFee'>,
): TxType {
  const own = txTypeOf(request, quote);
  if (ofSlot === null || ofSlot > 2 || own > 2) return own;
  return ofSlot === 0 && request.payload.accessList.length > 0 ? 1 : ofSlot;
}

/** The type of a no-op that competes for a slot. A no-op authorizes nothing, and a slot with set-code attempts accepts type 2. */
export function noOpType(ofSlot: TxType | null, quote: Pick<FeeQuote, 'hasBaseFee'>): TxType {
  if (ofSlot !== null) return ofSlot === 4 ? 2 : ofSlot;
  return quote.hasBaseFee ? 2 : 0;
}
