import { Injectable } from '@nestjs/common';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Doorbell, FundsRepository, LeasedWork, WriteChanges } from '../../transactions/index.js';

/** Makes due what waited for funds, and wakes the lanes: parked txs are simulated again, and sent ones that were refused are resent. */
@Injectable()
export class ResumeFunded {
  constructor(
    private readonly work: LeasedWork,
    private readonly funds: FundsRepository,
    private readonly write: WriteChanges,
    private readonly doorbell: Doorbell,
    private readonly log: Log,
  ) {}

  async execute(chainId: ChainId, signers: readonly SignerId[]): Promise<void> {
    const items = signers.map((signer) => ({ signer }));
    await this.work.run(chainId, items, async (leases, share) => {
      const funded = share.map(({ signer }) => signer);
      await this.write.underFence(leases, 'funds_arrived', async (fence) => {
        await this.funds.makeDue(fence, funded);
        return {};
      });
      this.log.info('funds arrived', { signers: funded.map(signerKey) });
      this.doorbell.ring(funded);
    });
  }
}
