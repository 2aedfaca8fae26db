import { InvalidInput } from '../../../../kernel/errors.js';
import { parseQuantity } from '../../../../kernel/quantities.js';
import type { TxRequest } from '../../../ledger/index.js';
import type { FeesDto, PayloadDto } from './create-tx.dto.js';

/** Wei per gas, far above any market price. */
const MAX_FEE_WEI = 1n << 128n;

/**
 * Refuses fees that no node accepts, before they can block the lane of the signer.
 * @throws InvalidInput `invalid_fees`
 */
export function toFees(
  asked: FeesDto | null | undefined,
  payload: Pick<PayloadDto, 'blobs' | 'authorizationList'>,
): TxRequest['fees'] {
  const fees = {
    maxFeePerGas: optional(asked?.maxFeePerGas),
    maxPriorityFeePerGas: optional(asked?.maxPriorityFeePerGas),
    gasPrice: optional(asked?.gasPrice),
    maxFeePerBlobGas: optional(asked?.maxFeePerBlobGas),
  };
  if (Object.values(fees).some((wei) => wei !== null && wei > MAX_FEE_WEI)) {
    throw new InvalidInput('invalid_fees', 'a fee is above 2^128 wei per gas', 'send fees in wei per gas');
  }
  assertOnePrice(fees);
  assertOneKind(fees, payload);
  return fees;
}

function assertOnePrice({ gasPrice, maxFeePerGas, maxPriorityFeePerGas }: TxRequest['fees']): void {
  if (gasPrice === null || (maxFeePerGas === null && maxPriorityFeePerGas === null)) return;
  throw new InvalidInput(
    'invalid_fees',
    'fees.gasPrice is the only price of its transaction',
    'send gasPrice, or maxFeePerGas and maxPriorityFeePerGas',
  );
}

/** Each type of transaction has fees of its own. */
function assertOneKind(
  fees: TxRequest['fees'],
  { blobs, authorizationList }: Pick<PayloadDto, 'blobs' | 'authorizationList'>,
): void {
  if (fees.gasPrice !== null && (blobs != null || authorizationList != null))
    throw new InvalidInput(
      'invalid_fees',
      'a transaction with blobs or authorizations has no gasPrice',
      'send maxFeePerGas and maxPriorityFeePerGas',
    );
  if (fees.maxFeePerBlobGas !== null && blobs == null)
    throw new InvalidInput('invalid_fees', 'fees.maxFeePerBlobGas is set without blobs', 'leave it out');
}

function optional(value: string | number | null | undefined): bigint | null {
  return value == null ? null : parseQuantity(value);
}
