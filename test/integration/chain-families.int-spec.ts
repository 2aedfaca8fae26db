import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { parseHash, parseHex } from '../../src/kernel/hex.js';
import { SubmitCommand } from '../../src/modules/commands/application/submit-command.js';
import type { CommandKind } from '../../src/modules/commands/domain/tx-command.js';
import { TxHistory } from '../../src/modules/events/index.js';
import { InFlightLimits } from '../../src/modules/ledger/index.js';
import { FAMILIES } from '../families/index.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { aRequest } from '../support/builders.js';
import { ChainFacade } from '../support/chain-facade.js';
import { RpcLab } from '../support/rpc-lab.js';

/** Creates a contract of ten bytes. */
const CREATION = parseHex('0x600a600c600039600a6000f3602a60005260206000f3');
describe.each(FAMILIES)(
  '$name',
  ({ quirks, mostInBatch, anvil: extraArgs = [], config = {}, hasNoPool = false, untold = [] }) => {
    let anvil: RunningAnvil;
    let facade: ChainFacade;
    let lab: RpcLab;
    let tag = 0;

    beforeAll(async () => {
      anvil = await startAnvil({ extraArgs: ['--no-mining', ...extraArgs] });
      facade = await ChainFacade.listen(anvil.url, quirks, mostInBatch);
      lab = await RpcLab.open({ chainUrl: anvil.url, rpcUrls: [facade.url], config });
    });

    afterAll(async () => {
      await lab.close();
      await facade.stop();
      await anvil.stop();
    });

    /** Blocks, each of which our node sees. */
    async function blocks(count: number): Promise<void> {
      for (let index = 0; index < count; index += 1) {
        await lab.mine();
        await lab.node.follow();
        await lab.node.step();
      }
    }

    const next = (): number => (tag += 1);
    const reasons = async (txId: string): Promise<string[]> =>
      (await lab.node.get(TxHistory).of(txId)).map(({ reason }) => reason);

    /** A tx that no block took, and about which its client asks for this. */
    async function held(kind: CommandKind): Promise<string> {
      facade.hold();
      const [txId = ''] = await lab.sent(next());
      await blocks(1);
      const requestHash = parseHash(`0x${createHash('sha256').update(txId).digest('hex')}`);
      await lab.node
        .get(SubmitCommand)
        .execute({ txId, sender: ANYONE, kind, requestId: null, requestHash, fees: null, request: null });
      await lab.node.commands();
      return txId;
    }

    async function expectConfirmedOnce(txId: string, ofTag: number): Promise<void> {
      expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', lastError: null });
      expect(await lab.timesOnChain(ofTag)).toEqual([1]);
    }

    it('a transfer is MINED, CONFIRMED and told with what the chain says of it', async () => {
      const [txId = ''] = await lab.sent(next());
      await blocks(1);
      expect(await lab.node.tx(txId)).toMatchObject({ state: 'MINED' });
      await blocks(8);
      await expectConfirmedOnce(txId, tag);
      const { receipt } = await lab.node.tx(txId);
      expect(receipt).toMatchObject({ status: 'success', contractAddress: null });
      for (const field of ['gasUsed', 'effectiveGasPrice'] as const)
        expect([field, receipt?.[field] === null]).toEqual([field, untold.includes(field)]);
      expect(await reasons(txId)).not.toContain('reorg_detected');
    });

    it('twenty transfers are on chain once each, in order', async () => {
      const tags = Array.from({ length: 20 }, next);
      const txIds = await lab.sent(...tags);
      await blocks(hasNoPool ? 30 : 9);
      expect(new Set(await lab.states(txIds))).toEqual(new Set(['CONFIRMED']));
      expect(await lab.timesOnChain(...tags)).toEqual(tags.map(() => 1));
      if (hasNoPool) expect(lab.node.get(InFlightLimits).of(lab.node.signer())).toBeLessThanOrEqual(2);
    });

    it('a creation is told with the address of its contract', async () => {
      const { payload } = aRequest();
      const txId = await lab.create(next(), { payload: { ...payload, to: null, value: 0n, data: CREATION } });
      await lab.node.step();
      await blocks(9);
      const { state, receipt } = await lab.node.tx(txId);
      expect(state).toBe('CONFIRMED');
      expect(await lab.ask('eth_getCode', receipt?.contractAddress, 'latest')).toBe('0x602a60005260206000f3');
    });

    it('a speed-up outbids what no block took', async () => {
      const txId = await held('speed_up');
      expect(await lab.attempts(txId)).toHaveLength(2);
      await facade.release();
      await blocks(9);
      await expectConfirmedOnce(txId, tag);
    });

    it('a cancel outbids what no block took', async () => {
      const txId = await held('cancel');
      await lab.node.resubmit();
      await facade.release();
      await blocks(9);
      expect(await lab.node.tx(txId)).toMatchObject({ state: 'CANCELLED' });
      expect(await lab.timesOnChain(tag)).toEqual([0]);
    });

    it('what a reorg took out of its block is mined again, once', async () => {
      const [txId = ''] = await lab.sent(next());
      await blocks(1);
      expect(await lab.node.tx(txId)).toMatchObject({ state: 'MINED' });
      await lab.ask('anvil_reorg', 1, []);
      await blocks(2);
      expect(await reasons(txId)).toContain('reorg_detected');
      await lab.resubmit();
      await blocks(9);
      await expectConfirmedOnce(txId, tag);
    });
  },
);
