import { InvalidInput } from '../../../../kernel/errors.js';
import { parseQuantity } from '../../../../kernel/quantities.js';
import type { SignerId } from '../../../../kernel/signer-id.js';
import { encodeTypedData } from '../../../../platform/crypto/typed-data.js';
import { clientAddress } from '../../../../platform/http/client-address.js';
import type { PermitPart, RequestedPermit } from '../../../ledger/index.js';
import { type PermitDto, USUAL_PERMIT_S } from './create-tx.dto.js';
import type { CallData } from './to-call-data.js';

const PERMIT_FIELDS = [
  { name: 'owner', type: 'address' },
  { name: 'spender', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
] as const;
const WHOLE_SIGNATURES: readonly (readonly PermitPart[])[] = [['signature'], ['v', 'r', 's']];

/**
 * @param call has the parts of each
 * @throws InvalidInput `invalid_permit`, `invalid_typed_data`, and what is wrong with an address or a number
 */
export function toPermits(
  items: readonly PermitDto[],
  { places, addresses }: Pick<CallData, 'places' | 'addresses'>,
  sender: SignerId,
): RequestedPermit[] {
  const permits = items.map((item, index) => toPermit(item, places[index] ?? [], sender));
  permits.forEach(assertUsed);
  const named = new Set([sender.address, ...addresses]);
  const unnamed = permits.findIndex(({ owner }) => !named.has(owner));
  // After lost commits a transaction is recognised by its call without the permits. Another owner must make it another call.
  if (unnamed >= 0)
    throw invalid(
      `the owner of permit ${unnamed} is neither the signer nor an argument of payload.call`,
      'call a function that takes the owner as an address, or send from the owner',
    );
  const sequences = permits.map(({ contract, owner }) => `${contract} ${owner}`);
  if (new Set(sequences).size < sequences.length)
    throw invalid(
      'payload.permits names an owner of a token twice',
      'send two transactions: its second permit has a nonce only when the first was used',
    );
  return permits;
}

function toPermit(
  { kind, owner: named, token, name, version = '1', spender, value, ttl = USUAL_PERMIT_S }: PermitDto,
  places: RequestedPermit['places'],
  { chainId }: SignerId,
): RequestedPermit {
  const [contract, owner] = [clientAddress(token, chainId), clientAddress(named, chainId)];
  const message = { owner, spender: clientAddress(spender, chainId), value: parseQuantity(value).toString() };
  const domain = { name, version, chainId, verifyingContract: contract };
  const text = { domain, types: { Permit: PERMIT_FIELDS }, primaryType: 'Permit', message };
  // Else it would be found out when it is signed.
  encodeTypedData({ ...text, types: { Permit: [...PERMIT_FIELDS] }, message: { ...message, nonce: 0, deadline: 0 } });
  return { kind, contract, owner, ttl, text, places };
}

/** What is signed and not sent would move allowances only when somebody else finds it. */
function assertUsed({ places }: RequestedPermit, index: number): void {
  const used = new Set(places.map(({ part }) => part));
  const isWhole = WHOLE_SIGNATURES.some((parts) => parts.every((part) => used.has(part)));
  if (isWhole && used.has('deadline')) return;
  throw invalid(
    `payload.call does not use permit ${index}: its deadline, and its signature or its v, r and s`,
    'refer to these in the arguments of payload.call, such as {"$permit": 0, "part": "v"}',
  );
}

function invalid(problem: string, advice: string): InvalidInput {
  return new InvalidInput('invalid_permit', problem, advice);
}
