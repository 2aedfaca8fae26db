import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { LocalServer } from './local-server.js';

export type Algorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA';
type Json = Readonly<Record<string, unknown>>;

/** A pair of keys of an issuer. It signs with the library of Node, so that the one under test does not judge itself. */
export class SigningKey {
  private readonly pair: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

  constructor(
    readonly kid: string | undefined,
    readonly algorithm: Algorithm = 'ES256',
  ) {
    this.pair =
      algorithm === 'ES256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : algorithm === 'EdDSA'
          ? generateKeyPairSync('ed25519')
          : generateKeyPairSync('rsa', { modulusLength: 2048 });
  }

  get jwk(): Json {
    return { ...this.pair.publicKey.export({ format: 'jwk' }), use: 'sig', ...(this.kid && { kid: this.kid }) };
  }

  get pem(): string {
    return String(this.pair.publicKey.export({ format: 'pem', type: 'spki' }));
  }

  token(claims: Json, header: Json = {}): string {
    const whole = { typ: 'JWT', alg: this.algorithm, ...(this.kid && { kid: this.kid }), ...header };
    return signed(whole, claims, (text) => this.signature(text));
  }

  private signature(text: string): Buffer {
    const data = Buffer.from(text);
    const { privateKey: key } = this.pair;
    switch (this.algorithm) {
      case 'EdDSA':
        return sign(null, data, key);
      case 'ES256':
        return sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' });
      case 'PS256':
        return sign('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 });
      case 'RS256':
        return sign('sha256', data, key);
    }
  }
}

export function signed(header: Json, claims: unknown, signature: (text: string) => Buffer): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${signature(text).toString('base64url')}`;
}

/** As one signs who knows a public key only, and hopes that it is taken for the secret of an HMAC. */
export function signedWithPublicKey(header: Json, claims: Json, publicKey: string): string {
  const hmac = (text: string): Buffer => createHmac('sha256', publicKey).update(text).digest();
  return signed({ typ: 'JWT', alg: 'HS256', ...header }, claims, hmac);
}

/** An issuer of tokens, with the server of its public keys. */
export class TokenIssuer extends LocalServer {
  readonly name = 'https://issuer.test/';
  readonly audience = 'lockstep-test';
  /** Those that the server tells. */
  keys: readonly SigningKey[] = [new SigningKey('first')];
  /** In place of the keys: another body, no answer at all, or a broken connection. */
  trouble: { body: string; status?: number } | 'slow' | 'down' | null = null;
  reads = 0;

  static start(): Promise<TokenIssuer> {
    return new TokenIssuer().listening();
  }

  get config(): { readonly issuer: string; readonly audience: string; readonly jwksUrl: string } {
    return { issuer: this.name, audience: this.audience, jwksUrl: `${this.url}/jwks.json` };
  }

  /** Those of a right token, but for these. A claim that is undefined is left out. */
  claims(others: Json = {}): Json {
    const exp = Math.floor(Date.now() / 1_000) + 3_600;
    return { iss: this.name, aud: this.audience, sub: 'someone', exp, scope: 'tx:read', ...others };
  }

  token(claims: Json = {}, header: Json = {}): string {
    const [key] = this.keys;
    if (key === undefined) throw new TypeError('the issuer has no key');
    return key.token(this.claims(claims), header);
  }

  protected async handle(_body: string, response: ServerResponse): Promise<void> {
    this.reads += 1;
    const { trouble } = this;
    if (trouble === 'slow') return;
    if (trouble === 'down') throw new Error('away');
    const body = trouble === null ? JSON.stringify({ keys: this.keys.map(({ jwk }) => jwk) }) : trouble.body;
    response.writeHead(trouble?.status ?? 200, { 'content-type': 'application/json' }).end(body);
  }
}
