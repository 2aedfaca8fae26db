import { Injectable } from '@nestjs/common';
import { minOf } from '../../../kernel/quantities.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { ChainRules, type FeeCaps } from '../../chain/index.js';
import { SignerPolicies } from '../../policies/index.js';
import { Custody } from '../../signers/index.js';
import { GAS_PER_BLOB } from '../domain/tx-cost.js';

/** What the fees of one tx are for. */
export interface TxGas {
  readonly gas: bigint;
  readonly blobs: bigint;
  /** What its client pays at most; null without such a limit. */
  readonly maxFeePerBlobGas: bigint | null;
}

/** The caps of the config for each signer: those of its chain, and its own where they are lower. */
@Injectable()
export class SignerFeeCaps {
  private readonly own: ReadonlyMap<string, Partial<FeeCaps>>;

  constructor(
    private readonly rules: ChainRules,
    private readonly policies: SignerPolicies,
    custody: Custody,
  ) {
    this.own = new Map(
      custody
        .rules()
        .flatMap(({ signer, fees }): [string, Partial<FeeCaps>][] =>
          fees === undefined ? [] : [[signerKey(signer), fees]],
        ),
    );
  }

  of(signer: SignerId): FeeCaps {
    const caps = this.rules.feeCaps(signer.chainId);
    const own = this.own.get(signerKey(signer));
    if (own === undefined) return caps;
    const lower = (name: keyof FeeCaps): bigint => minOf(caps[name], own[name] ?? caps[name]);
    return {
      maxFeePerGas: lower('maxFeePerGas'),
      maxPriorityFeePerGas: lower('maxPriorityFeePerGas'),
      maxFeePerBlobGas: lower('maxFeePerBlobGas'),
    };
  }

  /**
   * The caps for the payload of one tx: lower where its policy allows less for all its gas, after its blobs at the most that they may cost.
   * @param reserved wei of fees that the daily amounts have for it; null without such a limit
   */
  ofPayload(signer: SignerId, { gas, blobs, maxFeePerBlobGas: own }: TxGas, reserved: bigint | null = null): FeeCaps {
    const caps = this.of(signer);
    const maxFee = this.policies.present.lowest(signer, 'maxFee');
    const most = maxFee === null || reserved === null ? (maxFee ?? reserved) : minOf(maxFee, reserved);
    if (most === null || gas === 0n) return caps;
    const maxFeePerBlobGas = minOf(caps.maxFeePerBlobGas, own ?? caps.maxFeePerBlobGas);
    const forGas = most - blobs * GAS_PER_BLOB * maxFeePerBlobGas;
    return { ...caps, maxFeePerBlobGas, maxFeePerGas: forGas < 0n ? 0n : minOf(caps.maxFeePerGas, forGas / gas) };
  }
}
