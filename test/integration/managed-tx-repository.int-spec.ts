import { describe, expect, it } from '@jest/globals';
import { FencedUnitOfWork, LeaseManager } from '../../src/modules/signers/index.js';
import { ManagedTx, ManagedTxRepository } from '../../src/modules/ledger/index.js';
import { nodeLab } from '../support/node-lab.js';
import { TxWriter } from '../../src/modules/ledger/domain/tx-writer.js';

const lab = nodeLab();

describe('the repository of managed txs', () => {
  it('refuses to save an outdated copy, and writes nothing of the batch', async () => {
    const { node } = lab;
    const [first, second] = [await lab.create(1), await lab.create(2)];
    await node.step();
    const repository = node.get(ManagedTxRepository);
    const [stale] = await repository.byIds([first]);
    const [fresh] = await repository.byIds([second]);
    const lease = node.get(LeaseManager).held(node.signer());
    if (!stale || !fresh || !lease) throw new Error('the set-up is broken');
    const save = (...txs: ManagedTx[]): Promise<void> =>
      node.get(FencedUnitOfWork).run([lease], 'test', (fence) => {
        for (const tx of txs) tx.receiptMissing(1);
        return node.get(TxWriter).save(fence, txs);
      });
    await save(ManagedTx.rehydrate(stale.progress));
    await expect(save(fresh, stale)).rejects.toMatchObject({ code: 'stale_copy' });
    const [after] = await repository.byIds([second]);
    expect(after?.progress.version).toBe(fresh.progress.version);
  });
});
