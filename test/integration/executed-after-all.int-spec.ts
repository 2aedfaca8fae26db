import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ReceiptLookup } from '../../src/modules/chain/index.js';
import { LeftFreeLab } from '../support/left-free-lab.js';
import { nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';

/*
 * K8: a payload that failed in a block, left its nonce free, and is executed in a later one. Its client pays again for what is FAILED, so no crash,
 * no lease that moves and no endpoint that lags may keep it so.
 */

const lab = nodeLab();
const here = new LeftFreeLab(lab);
const race = new RaceLab(lab);
const { isHeld, areConfirmed } = here;

/** A later block executes the payload with this tag. */
function execute(tag: number): void {
  lab.chain.force(here.bytesOf(tag));
  lab.chain.mine(1);
  lab.chain.mineEmpty();
}

/** The answers of the endpoints about final receipts, until the returned function is called. */
function agreed(answer: () => Promise<ReceiptLookup>): () => void {
  const truth = lab.chain.agreedReceipts.bind(lab.chain);
  lab.chain.agreedReceipts = async (known) => Promise.all(known.map(answer));
  return () => void (lab.chain.agreedReceipts = truth);
}

const tooFew = (): (() => void) => agreed(async () => ({ kind: 'unavailable', message: 'too few' }));

beforeEach(() => lab.chain.mineEmpty(20));

it('before that is final, is not FAILED: the later block decides, also where endpoints tell receipts by their block', async () => {
  lab.chain.agreedReceipts = async (known) =>
    Promise.all(
      known.map(async ({ txHash, blockHash: hash }): Promise<ReceiptLookup> => {
        const told = await lab.chain.blockReceipts({ hash });
        const receipt = told?.receipts.find((each) => each.txHash === txHash);
        return receipt ? { kind: 'found', receipt } : { kind: 'none' };
      }),
    );
  const txId = await lab.sent(1);
  lab.chain.mineFailed(here.bytesOf(1));
  await lab.node.follow();
  expect(await lab.node.tx(txId)).toMatchObject({ state: 'MINED', receipt: { status: 'reverted' } });
  execute(1);
  await here.goOnUntil('it is final', areConfirmed([txId]));
  expect([here.executionsOf(1), await isHeld()]).toEqual([1, false]);
});

describe('when it is FAILED', () => {
  let failed: string;
  let behindIt: string[];

  beforeEach(async () => {
    await lab.mined(0);
    failed = await lab.sent(1);
    lab.chain.mineFailed(here.bytesOf(1));
    behindIt = [await lab.sent(2), await lab.sent(3)];
    lab.chain.mineEmpty(3);
    await lab.node.follow();
    await here.goOnUntil('the signer is held', isHeld);
    expect(await lab.states([failed])).toEqual(['FAILED']);
  });

  it('follows the chain also when nobody owned its signer meanwhile', async () => {
    await lab.node.releaseLeases();
    execute(1);
    await lab.node.follow();
    const next = await lab.startNode();
    await here.goOnUntil('all are final', areConfirmed([failed, ...behindIt]), next);
  });

  it('follows the chain also when its owner dies before enough endpoints tell', async () => {
    execute(1);
    const enough = tooFew();
    await lab.node.follow();
    enough();
    const next = await lab.takeOver();
    await here.goOnUntil('all are final', areConfirmed([failed, ...behindIt]), next);
  });

  it('keeps its signer held until enough endpoints tell what used its nonce', async () => {
    await lab.node.releaseLeases();
    execute(1);
    await lab.node.follow();
    const enough = tooFew();
    const next = await lab.startNode();
    for (let round = 0; round < 10; round += 1)
      await expect(lab.live(1, next)).rejects.toMatchObject({ code: 'rpc_unavailable' });
    expect([await lab.states([failed]), await isHeld()]).toEqual([['FAILED'], true]);
    enough();
    await here.goOnUntil('all are final', areConfirmed([failed, ...behindIt]), next);
  });

  it.each<[string, () => Promise<ReceiptLookup>]>([
    ['most endpoints lag', async () => ({ kind: 'none' })],
    ['an ask fails', async () => Promise.reject(new Error('once'))],
  ])('follows the chain also when at first %s', async (_what, answer) => {
    execute(1);
    const right = agreed(answer);
    await lab.node.follow().catch(() => undefined);
    expect(await lab.states([failed])).toEqual(['FAILED']);
    right();
    lab.chain.mineEmpty();
    await lab.node.follow();
    expect(await lab.states([failed])).toEqual(['CONFIRMED']);
    await here.goOnUntil('all are final', areConfirmed([failed, ...behindIt]));
  });

  it('follows the chain also when its fill has ended before enough endpoints tell, as if a stranger had used the nonce', async () => {
    await here.sync();
    execute(1);
    const enough = tooFew();
    await here.goOnUntil('the fill has ended', async () => (await lab.openFills()).length === 0);
    expect(await lab.states([failed])).toEqual(['FAILED']);
    enough();
    await here.goOnUntil('all are final', areConfirmed([failed, ...behindIt]));
    expect((await lab.fills()).map(({ state }) => state)).toEqual(['DROPPED']);
  });
});

describe('what a failed replacement was to replace', () => {
  it.each([
    ['nobody filled the nonce', false],
    ['the nonce is filled', true],
  ])('follows the chain when its bytes are executed and %s', async (_what, isFilled) => {
    await lab.mined(0);
    const original = await lab.sent(1);
    const replacement = await race.replacement(original, 9);
    await lab.node.commands();
    lab.chain.mineFailed(here.bytesOf(9));
    const behindIt = await lab.sent(2);
    lab.chain.mineEmpty(3);
    await lab.node.follow();
    expect(await lab.states([original, replacement])).toEqual(['REPLACED', 'FAILED']);
    await here.goOnUntil('the signer is held', isHeld);
    if (isFilled) await here.sync();
    execute(1);
    await here.goOnUntil('all are final', areConfirmed([original, behindIt]));
    expect(await lab.states([replacement])).toEqual(['FAILED']);
    expect((await lab.fills()).map(({ state }) => state)).toEqual(isFilled ? ['DROPPED'] : []);
  });
});
