import { Injectable } from '@nestjs/common';
import { minOf } from '../../../kernel/quantities.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { ChainRules, type FeeCaps } from '../../chain/index.js';
import { Custody } from '../../signers/index.js';

/** The caps of the config for each signer: those of its chain, and its own where they are lower. */
@Injectable()
export class SignerFeeCaps {
  private readonly own: ReadonlyMap<string, Partial<FeeCaps>>;

  constructor(
    private readonly rules: ChainRules,
    custody: Custody,
  ) {
    this.own = new Map(
      custody
        .signers()
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
}
