import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { type Address, parseAddress } from '../../../kernel/hex.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { TokenBuckets } from '../../../platform/limits/token-buckets.js';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { Custody, type SignerPolicy } from '../../signers/index.js';
import {
  authorizing,
  type Held,
  hasDailyLimit,
  type JudgedRequest,
  type Policy,
  type Refused,
  type Verdict,
  verdict,
} from '../domain/policy.js';

/** Lines of the log about one signer: a tx that is held is judged again and again, and a client may send thousands that are refused. */
const LINES = { perSecond: 1 / 60, most: 10 };

/** What the policy of a signer says. */
export interface PolicyVerdict {
  readonly signer: SignerId;
  readonly dryRun: boolean;
  readonly verdict: Verdict;
}

/** The policies of the config, also of signers whose keys other nodes have. A signer without a policy may sign everything. */
@Injectable()
export class SignerPolicies {
  private readonly policies: ReadonlyMap<string, Policy>;
  private readonly lines = new TokenBuckets();

  constructor(
    custody: Custody,
    private readonly metrics: Metrics,
    private readonly log: Log,
    private readonly clock: Clock,
  ) {
    this.policies = new Map(
      custody
        .rules()
        .flatMap(({ signer, policy }): [string, Policy][] =>
          policy === undefined ? [] : [[signerKey(signer), toPolicy(policy)]],
        ),
    );
  }

  of(signer: SignerId): Policy | null {
    return this.policies.get(signerKey(signer)) ?? null;
  }

  /** The part of the signers whose daily amounts are counted. */
  withDailyLimit(signers: readonly SignerId[]): SignerId[] {
    return signers.filter((signer) => {
      const policy = this.of(signer);
      return policy !== null && hasDailyLimit(policy);
    });
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

  /** Empty where there is no policy. */
  judge(signer: SignerId, by: (policy: Policy) => Verdict): PolicyVerdict[] {
    const policy = this.of(signer);
    return policy === null ? [] : [{ signer, dryRun: policy.dryRun, verdict: by(policy) }];
  }

  /**
   * Counts what a policy does not allow. At intake the client is told, and a flood would fill the log; what is found later is logged, too.
   * @returns null when it allows it, or only reports
   */
  enforced({ signer, dryRun, verdict }: PolicyVerdict, where: 'intake' | 'nonce' | 'replace'): Refused | Held | null {
    if (verdict.kind === 'allowed') return null;
    const { kind, rule, reason } = verdict;
    const mode = dryRun ? 'dry_run' : 'enforced';
    this.metrics.count(kind === 'held' ? 'policy_held_total' : 'policy_refused_total', 1, { rule, mode });
    if (where !== 'intake' && this.hasLine(signer))
      this.log.info('policy does not allow it', { signer: signerKey(signer), where, kind, rule, reason, mode });
    return dryRun ? null : verdict;
  }

  private hasLine(signer: SignerId): boolean {
    const [key, nowMs] = [signerKey(signer), this.clock.monotonicMs()];
    if (this.lines.secondsUntilOne(key, LINES, nowMs) > 0) return false;
    this.lines.take(key, 1, LINES, nowMs);
    return true;
  }
}

function toPolicy({ to, contractCreation, blobs, authorizations, dryRun, ...amounts }: SignerPolicy): Policy {
  return {
    to: to === undefined ? null : toReceivers(to),
    maxValue: amounts.maxValue ?? null,
    maxFee: amounts.maxFee ?? null,
    dailyValue: amounts.dailyValue ?? null,
    dailyFees: amounts.dailyFees ?? null,
    ...{ contractCreation, blobs, authorizations, dryRun },
  };
}

/** One address may be there more than once: everything that is named of it is allowed. */
function toReceivers(allowed: NonNullable<SignerPolicy['to']>): NonNullable<Policy['to']> {
  const receivers = new Map<Address, ReadonlySet<string> | null>();
  for (const { address, selectors } of allowed) {
    const to = parseAddress(address);
    const known = receivers.get(to);
    if (selectors === undefined || known === null) receivers.set(to, null);
    else receivers.set(to, new Set([...(known ?? []), ...selectors.map((text) => text.toLowerCase())]));
  }
  return receivers;
}
