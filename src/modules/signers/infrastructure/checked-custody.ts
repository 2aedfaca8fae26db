import type { CustodyEntry, CustodyKey } from '../../../custody/custody-entry.js';
import { SECP256K1 } from '../../../custody/secp256k1.js';
import type { Clock } from '../../../kernel/clock.js';
import { Unprocessable } from '../../../kernel/errors.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { EcdsaSignature, Signable, SignableKind } from '../../../kernel/signing.js';
import type { Log } from '../../../platform/logging/log.js';
import type { Metrics } from '../../../platform/metrics/metrics.js';
import { answeredWithin, endedWithin, type Pause } from '../../../platform/scheduling/pause.js';
import { mapInTurns } from '../../../platform/scheduling/map-in-turns.js';
import {
  CannotSign,
  type CustodiedSigner,
  Custody,
  CustodyFailed,
  ExternalSigner,
  type SignerRules,
} from '../domain/custody.js';

/** The signers of a worker wait for each other. */
const TIME_LIMIT_MS = 10_000;
const NAMES: Partial<Record<SignableKind, string>> = { authorization: 'authorizations', typedData: 'typed data' };
/** What has not come by then never will, and the custody is asked again. */
const GIVEN_UP_AFTER_MS = 60_000;

export interface CustodyTools {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly pause: Pause;
  readonly log: Log;
}

/** The entries of one chain of the config. */
interface ChainSigners {
  readonly id: ChainId;
  readonly signers: readonly CustodyEntry[];
}

interface Known {
  readonly custodied: CustodiedSigner;
  readonly key: CustodyKey;
  readonly health: Health;
}

/** Of all accounts of one entry of the config. */
interface Health {
  /** Answers that were not waited for, and have not come since. */
  overdue: number;
}

/** The keys of the config. Nothing that they sign leaves here before it is checked. */
export class CheckedCustody extends Custody {
  private constructor(
    private readonly keys: ReadonlyMap<string, Known>,
    private readonly known: ReadonlyMap<string, SignerRules>,
    private readonly tools: CustodyTools,
  ) {
    super();
  }

  /** @throws Error when an account is named twice on a chain: one of its policies would be lost, and with it the limits of what it signs */
  static async open(
    { chains }: { readonly chains: readonly ChainSigners[] },
    tools: CustodyTools,
  ): Promise<CheckedCustody> {
    const keys = new Map<string, Known>();
    const rules = new Map<string, SignerRules>();
    for (const { id: chainId, signers } of chains)
      for (const [index, entry] of signers.entries()) {
        const own = await entry.keys();
        for (const address of [...own.map((key) => key.address), ...entry.accountsElsewhere()]) {
          const signer = { chainId, address };
          const { fees, policy } = entry;
          if (rules.has(signerKey(signer)))
            throw new Error(`chains[].signers[] names the account ${address} twice on chain ${chainId}: name it once`);
          rules.set(signerKey(signer), { signer, ...(fees && { fees }), ...(policy && { policy }) });
        }
        const health = { overdue: 0 };
        for (const key of own) {
          const signer = { chainId, address: key.address };
          const remote = key.isRemote === true ? { remote: `${entry.type} ${index}` } : {};
          keys.set(signerKey(signer), { key, custodied: { signer, reference: key.reference, ...remote }, health });
        }
      }
    return new CheckedCustody(keys, rules, tools);
  }

  signers(): readonly CustodiedSigner[] {
    return [...this.keys.values()].map(({ custodied }) => custodied);
  }

  rules(): readonly SignerRules[] {
    return [...this.known.values()];
  }

  has(signer: SignerId): boolean {
    return this.keys.has(signerKey(signer));
  }

  isExternal(signer: SignerId): boolean {
    return this.keys.get(signerKey(signer))?.key.signs?.length === 0;
  }

  assertSigns(signer: SignerId, kind?: SignableKind): void {
    if (this.isExternal(signer)) throw new ExternalSigner(signer);
    const key = this.keys.get(signerKey(signer))?.key;
    if (kind === undefined || key?.signs?.includes(kind) !== false) return;
    const what = NAMES[kind] ?? `transactions of type ${kind}`;
    const message = `custody ${key.reference.type} signs no ${what}`;
    throw new CannotSign('cannot_sign', message, 'use a signer of another custody');
  }

  async sign(signer: SignerId, items: readonly Signable[]): Promise<EcdsaSignature[]> {
    const known = this.keys.get(signerKey(signer));
    if (!known)
      throw new Unprocessable('unknown_signer', 'this node has no key for the signer', 'add the signer to the config');
    const { key } = known;
    for (const { kind } of items) this.assertSigns(signer, kind);
    const signatures = await this.asked(known, items);
    const good = await mapInTurns(items, ({ digest }, index) => isGood(key, digest, signatures[index]));
    if (!good.includes(false)) return signatures;
    this.tools.log.error('custody signed with another key', { signer: signerKey(signer), custody: key.reference });
    throw this.failed(key, 'wrong_key', 'the custody of the signer signs with another key');
  }

  /** While a custody owes an answer it is not asked, so that one that hangs is waited for once, and not by every lane. */
  private async asked({ key, health }: Known, items: readonly Signable[]): Promise<EcdsaSignature[]> {
    if (health.overdue > 0) throw this.failed(key, 'overdue', 'the custody of the signer has not answered yet');
    const { clock, metrics, pause } = this.tools;
    const custody = key.reference.type;
    const begunMs = clock.monotonicMs();
    const late = new AbortController();
    const work = key.sign(items, late.signal);
    const signatures = await answeredWithin(pause, TIME_LIMIT_MS, work).catch((cause: unknown) => {
      throw this.failed(key, 'error', 'the custody of the signer does not sign', cause);
    });
    if (signatures === undefined) {
      late.abort();
      this.isOwed(health, work);
      throw this.failed(key, 'timeout', `the custody of the signer has not answered in ${TIME_LIMIT_MS} ms`);
    }
    metrics.observe('custody_seconds', (clock.monotonicMs() - begunMs) / 1000, { custody });
    metrics.count('custody_signatures_total', signatures.length, { custody });
    return signatures;
  }

  private isOwed(health: Health, work: Promise<unknown>): void {
    health.overdue += 1;
    void endedWithin(this.tools.pause, GIVEN_UP_AFTER_MS, work)
      .catch(() => undefined)
      .finally(() => (health.overdue -= 1));
  }

  private failed({ reference }: CustodyKey, reason: string, message: string, cause?: unknown): CustodyFailed {
    this.tools.metrics.count('custody_errors_total', 1, { custody: reference.type, reason });
    return new CustodyFailed(message, { cause });
  }
}

function isGood({ address }: CustodyKey, digest: Signable['digest'], signature: EcdsaSignature | undefined): boolean {
  return signature !== undefined && SECP256K1.isBy(address, digest, signature);
}
