import type { Address } from '../../../kernel/hex.js';
import { minOf } from '../../../kernel/quantities.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import {
  authorizing,
  hasDailyLimit,
  type JudgedRequest,
  type Policy,
  typing,
  type Verdict,
  verdict,
} from './policy.js';
import type { PolicyNews, StoredPolicy } from './stored-policies.js';

/** What the policy of a signer says. */
export interface PolicyVerdict {
  readonly signer: SignerId;
  readonly dryRun: boolean;
  readonly verdict: Verdict;
}

/** What the config says of a signer, and the newest version of what was set by the API. */
export interface SignerPolicy {
  readonly signer: SignerId;
  readonly config: Policy | null;
  readonly stored: StoredPolicy | null;
}

/** All policies as they were at one time. Where the config and the API have one for a signer, each must allow it. A signer without one may sign everything. */
export class PolicySet {
  /**
   * @param mark of the last change by the API that is in it
   * @param bySigner by {@link signerKey}
   */
  constructor(
    readonly mark: string,
    private readonly bySigner: ReadonlyMap<string, SignerPolicy>,
  ) {}

  /** This one after changes by the API. */
  with({ mark, isAll, newest }: PolicyNews): PolicySet {
    const bySigner = new Map(isAll ? this.configured() : this.bySigner);
    for (const stored of newest) {
      const { signer } = stored;
      bySigner.set(signerKey(signer), { signer, config: bySigner.get(signerKey(signer))?.config ?? null, stored });
    }
    return new PolicySet(mark, bySigner);
  }

  private configured(): [string, SignerPolicy][] {
    return [...this.bySigner].flatMap(([key, { signer, config }]): [string, SignerPolicy][] =>
      config === null ? [] : [[key, { signer, config, stored: null }]],
    );
  }

  /** Of all signers that have one, or had one of the API. */
  all(): SignerPolicy[] {
    return [...this.bySigner.values()];
  }

  find(signer: SignerId): SignerPolicy {
    return this.bySigner.get(signerKey(signer)) ?? { signer, config: null, stored: null };
  }

  /** Each must allow it. */
  of(signer: SignerId): Policy[] {
    const { config, stored } = this.find(signer);
    return [config, stored?.policy ?? null].filter((policy) => policy !== null);
  }

  /** The lowest amount of those that do not only report; null where none limits it. */
  lowest(signer: SignerId, rule: 'maxFee' | 'dailyFees'): bigint | null {
    const amounts = this.of(signer).flatMap((policy) => (policy.dryRun ? [] : (policy[rule] ?? [])));
    return amounts.length === 0 ? null : amounts.reduce(minOf);
  }

  /** The part of the signers whose daily amounts are counted. */
  withDailyLimit(signers: readonly SignerId[]): SignerId[] {
    return signers.filter((signer) => this.of(signer).some(hasDailyLimit));
  }

  /**
   * What the policies say that a request concerns, as far as the request alone decides.
   * @param authorities other signers of its chain that shall sign an authorization
   */
  ofRequest(
    { signer, ...request }: JudgedRequest & { readonly signer: SignerId },
    authorities: readonly Address[] = [],
  ): PolicyVerdict[] {
    const others = authorities.map((address) => ({ chainId: signer.chainId, address }));
    return [
      ...this.judge(signer, (policy) => verdict(policy, request)),
      ...others.flatMap((authority) => this.judge(authority, authorizing)),
    ];
  }

  /** Also without a policy, and where one only reports, nothing is signed that is not named. */
  ofTypedData(signer: SignerId, what: string): PolicyVerdict[] {
    const policies = this.of(signer);
    return (policies.length === 0 ? [null] : policies).map((policy) => ({
      signer,
      dryRun: false,
      verdict: typing(policy, what),
    }));
  }

  /** Empty where there is no policy. */
  judge(signer: SignerId, by: (policy: Policy) => Verdict): PolicyVerdict[] {
    return this.of(signer).map((policy) => ({ signer, dryRun: policy.dryRun, verdict: by(policy) }));
  }
}
