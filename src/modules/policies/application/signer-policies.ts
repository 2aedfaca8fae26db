import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { Forbidden } from '../../../kernel/errors.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { TokenBuckets } from '../../../platform/limits/token-buckets.js';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { Custody } from '../../signers/index.js';
import type { Held, Refused } from '../domain/policy.js';
import { toPolicy } from '../domain/policy-rules.js';
import { PolicySet, type PolicyVerdict } from '../domain/policy-set.js';
import { StoredPolicies } from '../domain/stored-policies.js';

/** Lines of the log about one signer: a tx that is held is judged again and again, and a client may send thousands that are refused. */
const LINES = { perSecond: 1 / 60, most: 10 };

/** Nothing of the API was read. */
const UNREAD = 'unread';

/** The policies of the config, also of signers whose keys other nodes have, and those of the API as this node knows them. */
@Injectable()
export class SignerPolicies {
  private known: PolicySet;
  private asked = 0;
  /** The newest question that was answered: an answer that comes late may know less. */
  private answered = 0;
  private readonly lines = new TokenBuckets();

  constructor(
    custody: Custody,
    private readonly stored: StoredPolicies,
    private readonly metrics: Metrics,
    private readonly log: Log,
    private readonly clock: Clock,
  ) {
    const configured = custody
      .rules()
      .flatMap(({ signer, policy }) =>
        policy === undefined ? [] : [[signerKey(signer), { signer, config: toPolicy(policy), stored: null }] as const],
      );
    this.known = new PolicySet(UNREAD, new Map(configured));
  }

  /** As this node knows them: up to a second old. */
  get present(): PolicySet {
    return this.known;
  }

  /** Reads what changed. */
  async refresh(): Promise<void> {
    await this.read(null);
  }

  /** As they are in a transaction that has read this mark. Costs a statement when the node knows others. */
  async at(mark: string, tx: Tx): Promise<PolicySet> {
    return mark === this.known.mark ? this.known : this.read(tx);
  }

  private async read(tx: Tx | null): Promise<PolicySet> {
    const [question, known] = [++this.asked, this.known];
    const news = await this.stored.news(known.mark, tx);
    const read = news === null ? known : known.with(news);
    if (question > this.answered) [this.known, this.answered] = [read, question];
    return read;
  }

  /**
   * Where a client waits for the answer.
   * @throws Forbidden `policy_refused`
   */
  assertAllowed(signer: SignerId, judged: readonly PolicyVerdict[]): void {
    const refusal = this.enforced(judged, 'intake');
    if (!refusal) return;
    const { rule, reason } = refusal;
    throw new Forbidden(
      'policy_refused',
      `the policy of the signer refuses it: ${reason}`,
      'send what the policy allows, or have an operator change it: GET /api/v1/policies/{chainId}/{address} shows it',
      { ...signer, rule },
    );
  }

  /**
   * Counts what policies do not allow. At intake the client is told, and a flood would fill the log; what is found later is logged, too.
   * @returns null when each allows it, or only reports; what one refuses before what another holds
   */
  enforced(judged: readonly PolicyVerdict[], where: 'intake' | 'nonce' | 'replace'): Refused | Held | null {
    const against = judged.flatMap((one) => this.counted(one, where) ?? []);
    return against.find(({ kind }) => kind === 'refused') ?? against[0] ?? null;
  }

  private counted({ signer, dryRun, verdict }: PolicyVerdict, where: string): Refused | Held | null {
    if (verdict.kind === 'allowed') return null;
    const { kind, rule, reason } = verdict;
    const mode = dryRun ? 'dry_run' : 'enforced';
    this.metrics.count(kind === 'held' ? 'policy_held_total' : 'policy_refused_total', 1, { rule, mode });
    if (where !== 'intake' && this.lines.tryTake(signerKey(signer), 1, LINES, this.clock.monotonicMs()) === 0)
      this.log.info('policy does not allow it', { signer: signerKey(signer), where, kind, rule, reason, mode });
    return dryRun ? null : verdict;
  }
}
