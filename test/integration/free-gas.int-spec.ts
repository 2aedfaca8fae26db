import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { ExplainTx } from '../../src/modules/ops/application/explain-tx.js';
import type { TxRequest } from '../../src/modules/ledger/index.js';
import { answering, type Family } from '../families/family.js';
import { freeGas } from '../families/free-gas.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { ChainFacade } from '../support/chain-facade.js';
import { RaceLab } from '../support/race-lab.js';
import { RpcLab } from '../support/rpc-lab.js';

const NOTHING_TO_PAY_WITH = 'gas is free, and the balance of the signer does not cover a price above 0';

/** Free gas since London: blocks have a base fee, and it is 0. */
const zeroBaseFee: Pick<Family, 'name' | 'anvil' | 'quirks'> = {
  name: 'a base fee of 0',
  anvil: ['--base-fee', '0', '--gas-price', '0'],
  quirks: { eth_gasPrice: answering('0x0') },
};

/** anvil takes a replacement only at a higher price, as geth does. */
describe.each([freeGas, zeroBaseFee])('$name', ({ quirks, anvil: extraArgs = [] }) => {
  let anvil: RunningAnvil;
  let facade: ChainFacade;
  let lab: RpcLab;
  let race: RaceLab;
  let tag = 0;
  /** What happens after a balance was read. */
  let afterBalance: () => Promise<void>;

  beforeAll(async () => {
    anvil = await startAnvil({ extraArgs: ['--no-mining', ...extraArgs] });
  });

  afterAll(() => anvil.stop());

  beforeEach(async () => {
    afterBalance = async () => undefined;
    facade = await ChainFacade.listen(anvil.url, {
      ...quirks,
      eth_getBalance: async (_call, ask) => {
        const answer = await ask();
        await afterBalance();
        return answer;
      },
    });
    lab = await RpcLab.open({ chainUrl: anvil.url, rpcUrls: [facade.url] });
    race = new RaceLab(lab);
    await has(0n);
  });

  afterEach(async () => {
    await lab.close();
    await facade.stop();
  });

  async function has(wei: bigint): Promise<void> {
    await lab.ask('anvil_setBalance', lab.node.signer().address, `0x${wei.toString(16)}`);
  }

  function free(): Pick<TxRequest, 'payload'> {
    tag += 1;
    return { payload: { ...lab.request(tag).payload, value: 0n } };
  }

  async function sent(overrides: Partial<TxRequest> = {}): Promise<string> {
    const txId = await lab.create(tag + 1, { ...free(), ...overrides });
    await lab.node.step();
    expect(await kinds(txId)).toEqual(['payload ACCEPTED']);
    return txId;
  }

  const kinds = async (txId: string): Promise<string[]> =>
    (await lab.attempts(txId)).map(({ kind, status }) => `${kind} ${status}`);
  const outcomes = async (txId: string) =>
    (await race.commandsOf(txId)).map(({ status, refusal }) => ({ status, refusal }));

  /** It is in the pool as it was, and is mined. */
  async function expectUntouched(txId: string): Promise<void> {
    await lab.resubmit();
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'STALE', lastError: null });
    expect(await kinds(txId)).toEqual(['payload ACCEPTED']);
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
  }

  describe('an account without funds', () => {
    it.each(['speedUp', 'cancel'] as const)('has a %s refused with its reason, and nothing is signed', async (kind) => {
      const txId = await sent();
      await race[kind](txId);
      await lab.node.commands();
      expect(await outcomes(txId)).toEqual([{ status: 'REFUSED', refusal: NOTHING_TO_PAY_WITH }]);
      await expectUntouched(txId);
    });

    it('has a replace refused with its reason: the replacement is DROPPED, and the original goes on', async () => {
      const original = await sent();
      const { replacement } = await race.replace(original, tag + 1, free());
      await lab.node.commands();
      expect(await outcomes(original)).toEqual([{ status: 'REFUSED', refusal: NOTHING_TO_PAY_WITH }]);
      expect(await lab.node.tx(String(replacement))).toMatchObject({
        state: 'DROPPED',
        failureReason: `not replaced: ${NOTHING_TO_PAY_WITH}`,
      });
      await expectUntouched(original);
    });

    it('is told so by the explanation', async () => {
      const found = await lab.node.get(ExplainTx).execute(await sent(), ANYONE);
      expect(found?.explanation.summary).toContain('gas is free, so its price is not the reason');
      expect(found?.explanation.summary).toContain('nothing can outbid it');
    });

    it('has what no block takes sent again at the same price', async () => {
      const txId = await sent();
      for (let block = 0; block < 6; block += 1) {
        // An empty block: the pool is put back after it.
        await lab.ask('anvil_dropAllTransactions');
        await lab.mine();
        await lab.node.follow();
        await lab.node.bump();
        await lab.resubmit();
      }
      await expectUntouched(txId);
    });

    it('gets a nonce back by a free no-op, when what expired is in no pool', async () => {
      const expiresAt = new Date(Date.now() + 1_500);
      const txId = await sent({ expiresAt });
      await lab.ask('anvil_dropAllTransactions');
      while (new Date() <= expiresAt) await new Promise((resolve) => setTimeout(resolve, 50));
      await lab.node.commands();
      await lab.resubmit();
      expect(await kinds(txId)).toEqual(['payload ACCEPTED', 'cancel ACCEPTED']);
      const next = await sent();
      await lab.confirmAll();
      expect(await lab.states([txId, next])).toEqual(['CANCELLED', 'CONFIRMED']);
    });

    it('waits for the chain when what expired is in the pool, and its nonce is used once', async () => {
      const expiresAt = new Date(Date.now() + 1_500);
      const txId = await sent({ expiresAt });
      while (new Date() <= expiresAt) await new Promise((resolve) => setTimeout(resolve, 50));
      await lab.node.commands();
      await lab.resubmit();
      await lab.resubmit();
      expect(await kinds(txId)).toEqual(['payload ACCEPTED', 'cancel UNKNOWN']);
      await lab.confirmAll();
      expect(await lab.states([txId])).toEqual(['CONFIRMED']);
      expect(await lab.timesOnChain(tag)).toEqual([1]);
    });
  });

  it('an account with a little outbids what was free: a cancel is CANCELLED', async () => {
    await has(10n ** 9n);
    const txId = await sent();
    await race.cancel(txId);
    await lab.node.commands();
    await lab.resubmit();
    await lab.confirmAll();
    expect(await outcomes(txId)).toEqual([{ status: 'DONE', refusal: null }]);
    expect(await lab.states([txId])).toEqual(['CANCELLED']);
    expect(await lab.timesOnChain(tag)).toEqual([0]);
  });

  it('an account that is emptied after its no-op was priced gets its nonce back by a free one', async () => {
    await has(10n ** 9n);
    const txId = await sent();
    await race.cancel(txId);
    await lab.node.commands();
    await lab.ask('anvil_dropAllTransactions');
    afterBalance = () => has(0n);
    await lab.resubmit();
    expect(await kinds(txId)).toEqual(['payload ACCEPTED', 'cancel REJECTED']);
    await lab.resubmit();
    expect(await kinds(txId)).toEqual(['payload ACCEPTED', 'cancel REJECTED', 'cancel ACCEPTED']);
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CANCELLED']);
    expect(await lab.timesOnChain(tag)).toEqual([0]);
  });
});
