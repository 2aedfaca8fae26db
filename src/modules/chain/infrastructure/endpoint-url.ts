import { InvalidInput } from '../../../kernel/errors.js';

const SCHEMES = { http: /^https?:/i, ws: /^wss?:/i } as const;

/** An RPC URL taken apart once, so that nothing else ever holds it whole: paths, queries and users carry keys. */
export class EndpointUrl {
  private constructor(
    /** Scheme, host and port. */
    readonly origin: string,
    /** What is safe to show. */
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
    const parts = [...url.pathname.split('/'), ...url.searchParams.values(), url.search, user, password];
    return new EndpointUrl(
      url.origin,
      endpointLabel(text, index),
      `${url.pathname}${url.search}`,
      user === '' && password === '' ? {} : { authorization },
      parts.filter((part) => part.length >= 6).sort((a, b) => b.length - a.length),
    );
  }

  /** A text from outside without the secret parts of this URL: proxies like to quote the path. */
  clean(text: string): string {
    return this.secrets.reduce((clean, secret) => clean.replaceAll(secret, '***'), text);
  }
}

/** `#0 https://rpc.example:8545`: protocol and host, and the position in the config to tell twins apart. */
export function endpointLabel(text: string, index: number): string {
  const { protocol, host } = new URL(text);
  return `#${index} ${protocol}//${host}`;
}
