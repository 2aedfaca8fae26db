import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** `ls_<id>_<secret>`: the id is visible in lists and logs; the secret is 256 random bits. */
const FORM = /^ls_([0-9a-f]{32})_([A-Za-z0-9_-]{43})$/;
const PREFIX = /^ls_([0-9a-f]{32})$/;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const SECRET_BYTES = 32;
const LONGEST_PREFIX = 'ls_'.length + 32;

export interface KeyText {
  readonly id: string;
  readonly secret: string;
}

/** What of a key may be shown. */
export function prefixOf(id: string): string {
  return `ls_${id.replaceAll('-', '')}`;
}

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

export function keyText({ id, secret }: KeyText): string {
  return `${prefixOf(id)}_${secret}`;
}

export function parseKeyText(text: string): KeyText | null {
  const [, digits, secret] = FORM.exec(text) ?? [];
  return digits === undefined || secret === undefined ? null : { id: withDashes(digits), secret };
}

/** The id of a key, as it is in lists or in front of the key, or of a whole one, which is all that is known of one that leaked; null for what is none. */
export function keyIdOf(text: string): string | null {
  if (ID.test(text)) return text.toLowerCase();
  const [, digits] = PREFIX.exec(text) ?? [];
  return digits === undefined ? (parseKeyText(text)?.id ?? null) : withDashes(digits);
}

/** What may be shown of a text that is no id: it may be a key with a typo. */
export function shownOf(text: string): string {
  return text.slice(0, LONGEST_PREFIX);
}

function withDashes(digits: string): string {
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
}

/** SHA-256, in hex: nobody can try 2^256 secrets, so a slow hash, which is for passwords, would only cost time of requests. */
export function hashOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Takes as long for a wrong hash as for the right one. */
export function isSameHash(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'));
}
