import { Injectable } from '@nestjs/common';
import { awaitedAuthorities, ownerOf, type TxRequest, typeOfPermit } from '../../ledger/index.js';
import { outside, type PolicyVerdict, SignerPolicies } from '../../policies/index.js';

type Asked = Omit<TxRequest, 'requestHash'>;

/** Refuses what a policy of its signer, or of a signer whose authorization or permit it wants, never allows. The daily amounts are counted later. */
@Injectable()
export class PolicyGate {
  constructor(private readonly policies: SignerPolicies) {}

  /** @throws Forbidden `policy_refused` */
  assertAllowed(asked: Asked): void {
    this.policies.assertAllowed(asked.signer, this.judged(asked));
  }

  /** What it would say, without counting it: what refuses it before what only reports; null where there is no policy. */
  verdictOn(asked: Asked): PolicyVerdict | null {
    const judged = this.judged(asked);
    const against = judged.filter(({ verdict }) => verdict.kind !== 'allowed');
    return against.find(({ dryRun }) => !dryRun) ?? against[0] ?? judged[0] ?? null;
  }

  private judged(asked: Asked): PolicyVerdict[] {
    if (asked.hold) return this.policies.present.judge(asked.signer, outside);
    const { authorizationList, permits = [] } = asked.payload;
    return [
      ...this.policies.present.ofRequest(asked, awaitedAuthorities(authorizationList)),
      ...permits.flatMap((permit) => this.policies.present.ofTypedData(ownerOf(permit, asked), typeOfPermit(permit))),
    ];
  }
}
