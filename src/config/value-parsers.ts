import ms, { type StringValue } from 'ms';
import { parseQuantity } from '../kernel/quantities.js';

/** A value that does not have the type of its key. The message is public and never quotes the value. */
export class Unreadable extends Error {}

export type ValueParser = (raw: unknown) => unknown;

const isDurationText = (text: string): text is StringValue => /^\d+(\.\d+)? ?(ms|s|m|h|d)?$/.test(text);

/** `10s`, `250ms`, or a number of milliseconds. @returns milliseconds */
export function parseDuration(raw: unknown): number {
  const text = typeof raw === 'number' ? String(raw) : raw;
  if (typeof text === 'string' && isDurationText(text)) return Math.round(ms(text));
  throw new Unreadable("must be a duration such as '10s', '250ms' or '2m' (a plain number is milliseconds)");
}

const LONGEST_RETENTION = '36500d';

/** @returns milliseconds; infinite for `off` */
export function parseRetention(raw: unknown): number {
  const text = String(raw);
  if (text === 'off') return Infinity;
  if (isDurationText(text) && ms(text) <= ms(LONGEST_RETENTION)) return Math.round(ms(text));
  throw new Unreadable(`must be off, or a duration such as '30d', up to ${LONGEST_RETENTION}`);
}

const BYTES_IN: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/** `1mb`, `512kb`, or a number of bytes; a kb is 1024 bytes. @returns bytes */
export function parseSize(raw: unknown): number {
  const parts = /^(\d+(?:\.\d+)?) ?(b|kb|mb|gb)?$/i.exec(String(raw));
  if (parts === null) throw new Unreadable("must be a size such as '1mb' or '512kb' (a plain number is bytes)");
  return Math.floor(Number(parts[1]) * (BYTES_IN[(parts[2] ?? 'b').toLowerCase()] ?? 1));
}

/** Accepts text, too, because environment variables are always text. */
export function parseInteger(raw: unknown): number {
  const text = typeof raw === 'number' ? String(raw) : raw;
  if (typeof text === 'string' && /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new Unreadable('must be a whole number');
}

/** @returns infinite for `off` */
export function parseLimit(raw: unknown): number {
  return raw === 'off' ? Infinity : parseInteger(raw);
}

/** @returns bytes; infinite for `off` */
export function parseSizeLimit(raw: unknown): number {
  return raw === 'off' ? Infinity : parseSize(raw);
}

export function parseFlag(raw: unknown): boolean {
  if (raw === true || raw === 'true') return true;
  if (raw === false || raw === 'false') return false;
  throw new Unreadable('must be true or false');
}

/** Refuses numbers: YAML reads an unquoted 0x… as a number and loses digits. */
export function parseText(raw: unknown): string {
  if (typeof raw !== 'string') throw new Unreadable('must be text: put it in quotes');
  if (raw.trim() === '') throw new Unreadable('must not be empty');
  return raw;
}

/** A YAML list, or one text with commas, for environment variables. */
export function parseTextList(raw: unknown): string[] {
  if (typeof raw === 'string') {
    return raw
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }
  if (!Array.isArray(raw)) throw new Unreadable('must be a list');
  return raw.map(parseText);
}

/** Each is 32 bytes in Base64. */
export function parseEncryptionKeys(raw: unknown): Buffer[] {
  return parseTextList(raw).map((text, index) => {
    if (/^[A-Za-z0-9+/]{43}=$/.test(text)) return Buffer.from(text, 'base64');
    throw new Unreadable(`must hold keys of 32 bytes in Base64 (openssl rand -base64 32); entry ${index + 1} is none`);
  });
}

/** @returns wei */
export function parseWei(raw: unknown): bigint {
  try {
    if (typeof raw === 'string' || typeof raw === 'number') return parseQuantity(raw);
  } catch {
    // The message below is clearer to an operator than the parser's message.
  }
  throw new Unreadable("must be an amount of wei as a decimal number in quotes, such as '30000000000'");
}
