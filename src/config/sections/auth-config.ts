import { Choice, Each, type HasRules, Retention, Section, Text } from '../config-fields.js';
import type { ConfigMistake } from '../config-mistakes.js';

export type AuthMode = 'apiKeys' | 'jwt' | 'none';

const THIS_MACHINE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** What a token is compared with, and where the keys are that sign tokens. */
export class JwtConfig {
  /** The claim `iss`, letter for letter. */
  @Text()
  issuer = '';

  /** One of the claim `aud`: what the issuer calls this deployment. */
  @Text()
  audience = '';

  /** The public keys of the issuer (JWKS). Whoever can change this answer makes tokens, so it comes over TLS. */
  @Text()
  @Each('isSafeUrl', 'must be an https URL without a user (http only for this machine)', isSafeUrl)
  jwksUrl?: string;

  /** The claim with the scopes: a text with spaces between, or a list. */
  @Text()
  scopesClaim = 'scope';

  /** The claim with the name of the account that the caller belongs to. Without it, that of the operators. */
  @Text()
  accountClaim?: string;

  /** The claim with the signers that the caller is limited to, as in `1:0x…`: a text with spaces between, or a list. `*` in it stands for all. */
  @Text()
  signersClaim?: string;

  /** The same, with chain ids. With both, both hold. */
  @Text()
  chainsClaim?: string;
}

/** How a node knows who calls. */
export class AuthConfig implements HasRules {
  /**
   * `apiKeys`: keys that `lockstep keys create` or the API made. `jwt`: tokens of an issuer, and no keys. `none`: anybody who reaches the port may do
   * everything.
   */
  @Choice(['apiKeys', 'jwt', 'none'])
  mode: AuthMode = 'apiKeys';

  @Section(JwtConfig)
  jwt = new JwtConfig();

  brokenRules(): readonly ConfigMistake[] {
    if (this.mode !== 'jwt') return [];
    const needed = (['issuer', 'audience', 'jwksUrl'] as const).filter((key) => (this.jwt[key] ?? '') === '');
    return needed.map((key) => ({ path: `jwt.${key}`, problem: 'is required with auth.mode: jwt' }));
  }
}

export class AuditConfig {
  /** Milliseconds that entries of the audit log are kept; infinite when they are kept for ever. */
  @Retention({ min: 30 * 86_400_000, words: 'must be at least 30d: nobody may outwait it' })
  retention = Infinity;
}

function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && THIS_MACHINE.has(hostname));
}
