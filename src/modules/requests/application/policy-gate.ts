import { Injectable } from '@nestjs/common';
import { Forbidden } from '../../../kernel/errors.js';
import { awaitedAuthorities, type TxRequest } from '../../ledger/index.js';
import { type PolicyVerdict, SignerPolicies } from '../../policies/index.js';

type Asked = Omit<TxRequest, 'requestHash'>;

/** Refuses what a policy of its signer, or of a signer whose authorization it wants, never allows. The daily amounts are counted later. */
@Injectable()
export class PolicyGate {
  constructor(private readonly policies: SignerPolicies) {}

  /** @throws Forbidden `policy_refused` */
  assertAllowed(asked: Asked): void {
    const refusal = this.policies
      .ofRequest(asked, awaitedAuthorities(asked.payload.authorizationList))
      .map((judged) => this.policies.enforced(judged, 'intake'))
      .find((found) => found !== null);
    if (!refusal) return;
    const { rule, reason } = refusal;
    throw new Forbidden(
      'policy_refused',
      `the policy of the signer refuses it: ${reason}`,
      'send what the policy allows, or change chains[].signers[].policy in the config',
      { ...asked.signer, rule },
    );
  }

  /** What it would say, without counting it; null where there is no policy. */
  verdictOn(asked: Asked): PolicyVerdict | null {
    const judged = this.policies.ofRequest(asked, awaitedAuthorities(asked.payload.authorizationList));
    return judged.find(({ verdict }) => verdict.kind !== 'allowed') ?? judged[0] ?? null;
  }
}
