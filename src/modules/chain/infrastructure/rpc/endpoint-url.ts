import { InvalidInput } from '../../../../kernel/errors.js';

const SCHEMES = { http: /^https?:/i, ws: /^wss?:/i } as const;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A parsed RPC URL. No other object holds the whole URL, because path, query, user and host name may contain keys. */
export class EndpointUrl {
  private constructor(
    /** Scheme, host and port. */
    readonly origin: string,
    /** Safe to show. */
    readonly label: string,
    /** Secret. */
    readonly path: string,
    /** Secret. */
    readonly headers: Readonly<Record<string, string>>,
    private readonly secrets: readonly string[],
  ) {}

  /** @throws InvalidInput `invalid_rpc_url`, without the URL and without a cause that holds it */
  static parse(text: string, index: number, kind: keyof typeof SCHEMES = 'http'): EndpointUrl {
    if (!URL.canParse(text) || !SCHEMES[kind].test(text)) {
      throw new InvalidInput(
        'invalid_rpc_url',
        `RPC URL ${index} is not a ${kind}(s) URL`,
        `check ${kind === 'ws' ? 'wsUrls' : 'rpcUrls'} of this chain`,
      );
    }
    const url = new URL(text);
    const user = decodeURIComponent(url.username);
    const password = decodeURIComponent(url.password);
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const keysOfHost = url.hostname.split('.').filter(isKey);
    const parts = [...keysOfHost, ...url.pathname.split('/'), ...url.searchParams.values(), url.search, user, password];
    return new EndpointUrl(
      url.origin,
      endpointLabel(text, index),
      `${url.pathname}${url.search}`,
      user === '' && password === '' ? {} : { authorization },
      parts.filter((part) => part.length >= 6).sort((a, b) => b.length - a.length),
    );
  }

  /** Removes the secret parts of this URL from a text from outside: proxies may quote the path. */
  clean(text: string): string {
    return this.secrets.reduce((clean, secret) => clean.replaceAll(anyCase(secret), '***'), text);
  }
}

/** `#0 https://rpc.example:8545`: the position in the config, protocol and host. Keys in the host are hidden: `***.rpc.example`. */
export function endpointLabel(text: string, index: number): string {
  const { protocol, host } = new URL(text);
  const shown = host.split('.').map((label) => (isKey(label) ? '***' : label));
  return `#${index} ${protocol}//${shown.join('.')}`;
}

/** Keys are long and mix letters and digits; host names that people choose consist of words. */
function isKey(label: string): boolean {
  if (UUID.test(label)) return true;
  return label.split('-').some((word) => word.length >= 16 && /^[a-z0-9]+$/i.test(word) && /\d/.test(word));
}

function anyCase(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi');
}
