import { InvariantViolation } from '../../../kernel/errors.js';
import type { Address, Hex } from '../../../kernel/hex.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import type { EcdsaSignature } from '../../../kernel/signing.js';

/** So long after the deadline of a permit, by the clocks of the chain and of the database, no reorg leads back before it: no block takes it any more. */
export const PERMIT_OVER_S = 24 * 3_600;

/** What an argument of a call can take of a permit. `signature` is r, s and v in 65 bytes. */
export const PERMIT_PARTS = ['v', 'r', 's', 'signature', 'nonce', 'deadline'] as const;
export type PermitPart = (typeof PERMIT_PARTS)[number];

export const PERMIT_KINDS = ['eip2612'] as const;
export type PermitKind = (typeof PERMIT_KINDS)[number];

/** Where a part of a permit is in the data of its call. Of a number these are its last bytes. */
export interface PermitPlace {
  readonly part: PermitPart;
  readonly at: number;
  readonly bytes: number;
}

/** The typed data (EIP-712) of a permit, whose message lacks the two fields that are not known before it is signed. */
export interface PermitText {
  readonly domain: JsonObject;
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly primaryType: string;
  readonly message: JsonObject;
}

/** A permit with its signature. */
export interface MadePermit {
  /** Of the owner at the contract of the permit; no nonce of its account. */
  readonly permitNonce: bigint;
  /** Seconds since 1970. */
  readonly deadline: bigint;
  readonly signature: EcdsaSignature;
}

/** A signature of `owner` that a payload carries in its call: Lockstep makes it before the gas of the payload is estimated. */
export interface RequestedPermit {
  readonly kind: PermitKind;
  /** It verifies the signature, and counts the nonces of owners. */
  readonly contract: Address;
  /** A signer of the chain. */
  readonly owner: Address;
  /** Seconds from when it is made until its deadline. */
  readonly ttl: number;
  readonly text: PermitText;
  readonly places: readonly PermitPlace[];
  /** Absent until it is signed. */
  readonly made?: MadePermit;
}

/** @param tx or request of the permit */
export function ownerOf({ owner }: RequestedPermit, { signer: { chainId } }: { readonly signer: SignerId }): SignerId {
  return { chainId, address: owner };
}

/** As policies name what a signer may sign besides transactions. */
export function typeOfPermit({ contract, text }: RequestedPermit): string {
  return `${contract}/${text.primaryType}`;
}

/** Those that are not made yet. */
export function awaitedPermits(permits: readonly RequestedPermit[] = []): RequestedPermit[] {
  return permits.filter(({ made }) => made === undefined);
}

/** @param data with zeros in the places of all permits @returns with the parts of those that are made */
export function withPermits(data: Hex, permits: readonly RequestedPermit[] = []): Hex {
  return permits.reduce((filled, { made, places }) => {
    if (made === undefined) return filled;
    return places.reduce((text, place) => written(text, place, partOf(made, place)), filled);
  }, data);
}

/** The first permit that the call does not have: there are zeros in the place of its signature, as in no signature. */
export function unsignedPermit(call: {
  readonly data: Hex;
  readonly permits?: readonly RequestedPermit[];
}): RequestedPermit | undefined {
  const { data, permits = [] } = call;
  const isSigned = ({ part, at, bytes }: PermitPlace): boolean =>
    (part !== 'r' && part !== 'signature') || /[^0]/.test(data.slice(2 + 2 * at, 2 + 2 * (at + bytes)));
  return permits.find(({ places }) => !places.every(isSigned));
}

/** Whether each number fits its place: a contract may tell any nonce. */
export function fitsPlaces(
  { permitNonce, deadline }: Omit<MadePermit, 'signature'>,
  { places }: Pick<RequestedPermit, 'places'>,
): boolean {
  const numbers: Partial<Record<PermitPart, bigint>> = { nonce: permitNonce, deadline };
  return places.every((place) => number(numbers[place.part] ?? 0n, place).length === 2 * place.bytes);
}

/** With zeros in the places of permits: every permit that is made for a call gives the same. */
export function withoutPermits(data: Hex, permits: readonly RequestedPermit[] = []): Hex {
  const places = permits.flatMap((permit) => permit.places);
  return places.reduce((text, place) => written(text, place, '0'.repeat(2 * place.bytes)), data);
}

/**
 * What does not reach so far is no data of the call, and stays as it is.
 * @throws InvariantViolation for what would move the rest of the call ({@link fitsPlaces})
 */
function written(data: Hex, { part, at, bytes }: PermitPlace, digits: string): Hex {
  if (digits.length !== 2 * bytes)
    throw new InvariantViolation('a part of a permit does not fit its place', { part, at, bytes });
  const [from, to] = [2 + 2 * at, 2 + 2 * (at + bytes)];
  return data.length < to ? data : (`${data.slice(0, from)}${digits}${data.slice(to)}` as Hex);
}

function partOf({ permitNonce, deadline, signature: { r, s, yParity } }: MadePermit, place: PermitPlace): string {
  const v = 27 + yParity;
  switch (place.part) {
    case 'v':
      return number(BigInt(v), place);
    case 'nonce':
      return number(permitNonce, place);
    case 'deadline':
      return number(deadline, place);
    case 'r':
      return r.slice(2);
    case 's':
      return s.slice(2);
    case 'signature':
      return `${r.slice(2)}${s.slice(2)}${v.toString(16)}`;
  }
}

function number(value: bigint, { bytes }: PermitPlace): string {
  return value.toString(16).padStart(2 * bytes, '0');
}
