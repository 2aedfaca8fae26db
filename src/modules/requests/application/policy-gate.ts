import { Injectable } from '@nestjs/common';
import { Forbidden } from '../../../kernel/errors.js';
import { awaitedAuthorities, TxQueries, type TxRequest } from '../../ledger/index.js';
import { type PolicyVerdict, SignerPolicies } from '../../policies/index.js';

type Asked = Omit<TxRequest, 'requestHash'>;

/** Refuses what a policy of its signer, or of a signer whose authorization it wants, never allows. The daily amounts are counted later. */
@Injectable()
export class PolicyGate {
  constructor(
    private readonly policies: SignerPolicies,
    private readonly queries: TxQueries,
  ) {}

  /** @throws Forbidden `policy_refused` */
  async assertAllowed(asked: Asked): Promise<void> {
    const { signer, sender, requestId } = asked;
    const refusal = this.policies
      .ofRequest(asked, awaitedAuthorities(asked.payload.authorizationList))
      .map((judged) => this.policies.enforced(judged, 'intake'))
      .find((found) => found !== null);
    if (!refusal) return;
    // Stored before the policy became stricter: whoever repeats it must not take it for unsent, and send another.
    if ((await this.queries.findByRequest(signer, requestId, sender)) !== null) return;
    const { rule, reason } = refusal;
    throw new Forbidden(
      'policy_refused',
      `the policy of the signer refuses it: ${reason}`,
      'send what the policy allows, or change chains[].signers[].policy in the config',
      { ...signer, rule },
    );
  }

  /** What it would say, without counting it; null where there is no policy. */
  verdictOn(asked: Asked): PolicyVerdict | null {
    const judged = this.policies.ofRequest(asked, awaitedAuthorities(asked.payload.authorizationList));
    return judged.find(({ verdict }) => verdict.kind !== 'allowed') ?? judged[0] ?? null;
  }
}
