import { Injectable } from '@nestjs/common';
import { IntakeConfig } from '../../../../config/lockstep-config.js';
import { Unprocessable } from '../../../../kernel/errors.js';
import type { TxRequest } from '../../domain/tx-request.js';
import { ChainRules } from '../../../chain/index.js';
import { assertMetadataFits } from './metadata-limit.js';

/** Rules that every request must meet, also a repeated one, before Lockstep reads what is stored. */
@Injectable()
export class IntakeRules {
  constructor(
    private readonly rules: ChainRules,
    private readonly config: IntakeConfig,
  ) {}

  /** @throws Unprocessable `metadata_too_large`, `fees_above_cap` */
  assertAcceptable({ signer, fees, metadata }: Pick<TxRequest, 'signer' | 'fees' | 'metadata'>): void {
    assertMetadataFits(metadata, this.config.maxMetadataBytes);
    const caps = this.rules.feeCaps(signer.chainId);
    for (const name of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
      const asked = fees[name];
      if (asked === null || asked <= caps[name]) continue;
      throw new Unprocessable(
        'fees_above_cap',
        `${name} ${asked} is above the cap of the chain, ${caps[name]}`,
        `lower it, or raise chains[].fees.${name}`,
        { chainId: signer.chainId, cap: caps[name].toString() },
      );
    }
  }
}
