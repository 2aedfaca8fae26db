import { errors } from 'undici';
import { codeOf } from '../../../kernel/error-code.js';
import { InvalidInput, messageOf } from '../../../kernel/errors.js';
import { AddressRefused } from './guard/guarded-connector.js';
import { NameUnresolved } from './guard/name-resolver.js';

/** The whole time of a post is over. */
export class TimedOut extends Error {}

const MAX_LENGTH = 300;
/** Codes of Node's TLS and of the checks of certificates by OpenSSL. */
const TLS = /CERT|^ERR_(TLS|SSL)|^UNABLE_TO|^EPROTO$|^CRL_|^INVALID_(CA|PURPOSE)|^PATH_LENGTH|^HOSTNAME_MISMATCH/;
const NOT_HTTP = new Set(['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']);
const CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'the address cannot be reached',
  ENETUNREACH: 'the address cannot be reached',
  ECONNRESET: 'it ended before the answer did',
  EPIPE: 'it ended before the answer did',
  UND_ERR_SOCKET: 'it ended before the answer did',
  ETIMEDOUT: 'the address does not answer',
};

/** The error of an {@link Answer}: a stable code, a colon, and plain words. They may quote the other side, so they are cut and printable. */
export function postFailure(error: unknown): string {
  return printable(withCode(error)).slice(0, MAX_LENGTH);
}

/** Null for a status that is no redirect. */
export function redirectFailure(status: number, location: string | undefined): string | null {
  if (status < 300 || status > 399) return null;
  const target = location === undefined ? '' : ` to ${location}`;
  return printable(`redirect: the answer sends on${target}, and redirects are not followed`).slice(0, MAX_LENGTH);
}

function withCode(error: unknown): string {
  const message = messageOf(error);
  if (error instanceof TimedOut) return `timeout: ${message}`;
  if (error instanceof AddressRefused) return `address_refused: ${message}`;
  if (error instanceof NameUnresolved) return `dns: ${message}`;
  if (error instanceof InvalidInput) return `${error.code}: ${message}; ${error.advice}`;
  const code = codeOf(error);
  if (TLS.test(code)) return `tls: ${tlsReason(message)}`;
  if (error instanceof errors.HTTPParserError || NOT_HTTP.has(code)) return `http: the answer is not valid: ${message}`;
  const words = CONNECTION[code];
  return words === undefined ? `failed: ${message}` : `connection: ${words} (${code})`;
}

/** OpenSSL wraps its reason: `write EPROTO 40…:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:…`. */
function tlsReason(message: string): string {
  return /:SSL routines:[^:]*:([^:]+):/.exec(message)?.[1] ?? message;
}

function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, ' ');
}
