import { Injectable } from '@nestjs/common';
import { IntakeConfig } from '../../../config/lockstep-config.js';
import { InvalidInput, Unprocessable } from '../../../kernel/errors.js';
import type { JsonObject } from '../../../kernel/json.js';
import { SignerFeeCaps, type TxRequest } from '../../ledger/index.js';
import { Custody } from '../../signers/index.js';
import { AssertCallback } from './assert-callback.js';
import { PayloadLimits } from './payload-limits.js';
import { PolicyGate } from './policy-gate.js';
import { type IsRepeated, unlessRepeated } from './stored-requests.js';

/** Rules that every request must meet before it is stored. */
@Injectable()
export class IntakeRules {
  constructor(
    private readonly caps: SignerFeeCaps,
    private readonly config: IntakeConfig,
    private readonly limits: PayloadLimits,
    private readonly policies: PolicyGate,
    private readonly callbacks: AssertCallback,
    private readonly custody: Custody,
  ) {}

  /**
   * @param isRepeated asked only when a rule would refuse it: a repeated request keeps none
   * @throws what `assertPossible` throws; Forbidden `policy_refused`; Unprocessable `unknown_webhook`
   */
  async assertAcceptable(request: Omit<TxRequest, 'requestHash'>, isRepeated: IsRepeated): Promise<void> {
    await unlessRepeated(isRepeated, async () => {
      await this.callbacks.execute(request);
      await this.assertPossible(request);
      this.policies.assertAllowed(request);
    });
  }

  /** @throws InvalidInput `invalid_fees`; Unprocessable `metadata_too_large`, `fees_above_cap`, `cannot_sign`, `external_signer`, and those of {@link PayloadLimits} */
  async assertPossible(request: Omit<TxRequest, 'requestHash'>): Promise<void> {
    assertMetadataFits(request.metadata, this.config.maxMetadataBytes);
    this.assertFees(request);
    if (!request.hold) this.assertSigned(request);
    await this.limits.assertPossible(request);
  }

  /** What the policies of its signers say of it; null where there is none. */
  policyOn(request: Omit<TxRequest, 'requestHash'>): ReturnType<PolicyGate['verdictOn']> {
    return this.policies.verdictOn(request);
  }

  /** @throws InvalidInput `invalid_fees`; Unprocessable `fees_above_cap` */
  assertFees({ signer, fees }: Pick<TxRequest, 'signer' | 'fees'>): void {
    if (fees.gasPrice !== null && (fees.maxFeePerGas !== null || fees.maxPriorityFeePerGas !== null)) {
      throw new InvalidInput(
        'invalid_fees',
        'fees.gasPrice is there together with fees.maxFeePerGas or fees.maxPriorityFeePerGas',
        'send gasPrice for a transaction of type 0 or 1, or the other two for EIP-1559',
      );
    }
    const caps = this.caps.of(signer);
    for (const name of ['maxFeePerGas', 'maxPriorityFeePerGas', 'gasPrice', 'maxFeePerBlobGas'] as const) {
      const limit = name === 'gasPrice' ? 'maxFeePerGas' : name;
      const asked = fees[name];
      if (asked === null || asked <= caps[limit]) continue;
      throw new Unprocessable(
        'fees_above_cap',
        `${name} ${asked} is above the cap of the chain and signer, ${caps[limit]}`,
        `lower it, or raise fees.${limit} of the chain or the signer in the config`,
        { chainId: signer.chainId, cap: caps[limit].toString() },
      );
    }
  }

  /** Other types than these depend on the prices of the chain. */
  private assertSigned({
    signer,
    payload: { blobHashes, authorizationList, permits = [] },
  }: Pick<TxRequest, 'signer' | 'payload'>): void {
    this.custody.assertSigns(signer);
    if (blobHashes) this.custody.assertSigns(signer, 3);
    if (authorizationList) this.custody.assertSigns(signer, 4);
    for (const item of authorizationList ?? []) {
      if ('r' in item) continue;
      const address = 'authority' in item ? item.authority : signer.address;
      this.custody.assertSigns({ chainId: signer.chainId, address }, 'authorization');
    }
    for (const { owner } of permits) this.custody.assertSigns({ chainId: signer.chainId, address: owner }, 'typedData');
  }
}

/** @throws Unprocessable `metadata_too_large` when it has more than `maxBytes` as JSON in UTF-8 */
function assertMetadataFits(metadata: JsonObject | null, maxBytes: number): void {
  if (metadata === null) return;
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes <= maxBytes) return;
  throw new Unprocessable(
    'metadata_too_large',
    `metadata has ${bytes} bytes; the limit is ${maxBytes}`,
    'store it yourself and send a reference to it',
    { bytes, maxBytes },
  );
}
