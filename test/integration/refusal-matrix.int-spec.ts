import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ACTION, type BroadcastOutcome } from '../../src/modules/chain/index.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { NODE_ERROR_CLASSES, type NodeErrorClass } from '../../src/kernel/node-error-class.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { LaneMemory } from '../../src/modules/ledger/index.js';
import { aRequest } from '../support/builders.js';
import { ModelChain } from '../support/model-chain.js';
import { makeDue } from '../support/node-lab.js';
import { type SendFault, tagged, timedOut } from '../support/send-faults.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TestNode } from '../support/test-node.js';

/** When the refusals begin. */
type Start = 'at the first send' | 'after a time-out' | 'after it was accepted once';
/** Whether a pool has the bytes all the same. */
type Kept = 'kept' | 'not kept';
const STARTS: readonly Start[] = ['at the first send', 'after a time-out', 'after it was accepted once'];
const FOR_EVER = 1_000;
const FIVE_TIMES = 5;
/** Rounds of three blocks; more than any number of refusals that ends a payload, and what is closed then has to become final. */
const ROUNDS = 18;
const ENDS = new Set(['CONFIRMED', 'FAILED']);

/** One class of answers, and a signer of its own to get them: the payload that is refused, and one behind it. */
interface Case {
  readonly errorClass: NodeErrorClass;
  readonly signer: SignerId;
  readonly refused: string;
  readonly behind: string;
}

let database: TestDatabase;
let chain: ModelChain;
let node: TestNode;

beforeEach(async () => {
  database = await createTestDatabase();
  chain = new ModelChain();
});
afterEach(async () => {
  await node.close();
  await database.drop();
});

/** One that gives up early, for what never ends: two refusals, or four where circumstances are to blame. */
async function startNode(times: number): Promise<void> {
  const limits = times === FOR_EVER ? { maxRefusals: 2, maxRefusalsInDoubt: 4 } : {};
  // On a busy machine a step over all classes may take longer than a short lease: then its sends would be in doubt.
  // What is not mined is bumped in each round of three blocks.
  const config = { worker: { concurrency: 1 }, lease: { duration: '10m' }, resubmit: { bumpAfterBlocks: 2 } };
  const signers = [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: NODE_ERROR_CLASSES.length }];
  node = await TestNode.start(database.url, chain, { ...config, signers }, ({ resubmit }) =>
    Object.assign(resubmit, limits),
  );
}

/** What a node answers by this class; one that calls it known has it, and the others do not. */
function answer(errorClass: NodeErrorClass, kept: Kept): SendFault {
  const message: string = errorClass;
  if (errorClass === 'already_known' || errorClass === 'already_mined')
    return { deliver: true, outcome: { kind: 'accepted', errorClass } };
  const outcome: BroadcastOutcome =
    ACTION[errorClass].outcome === 'rejected'
      ? { kind: 'rejected', errorClass, message }
      : { kind: 'unknown', errorClass, message };
  return { deliver: kept === 'kept', outcome };
}

function dataOf(index: number, isBehind: boolean): ReturnType<typeof tagged> {
  return tagged(2 * index + (isBehind ? 2 : 1));
}

async function createCases(): Promise<Case[]> {
  return Promise.all(
    NODE_ERROR_CLASSES.map(async (errorClass, index): Promise<Case> => {
      const signer = node.signer(index);
      const create = async (isBehind: boolean): Promise<string> => {
        const base = aRequest({ signer });
        const payload = { ...base.payload, data: dataOf(index, isBehind) };
        return (await node.create({ ...base, requestId: `${errorClass}-${isBehind}`, payload })).txId;
      };
      const refused = await create(false);
      return { errorClass, signer, refused, behind: await create(true) };
    }),
  );
}

/** Each payload gets its class's answer so many times; before that, what `start` says. */
function refuse(start: Start, times: number, kept: Kept = 'not kept'): void {
  const left = new Map(NODE_ERROR_CLASSES.map((_, index) => [String(dataOf(index, false)), times]));
  const begun = new Set<string>();
  chain.faults.broadcast = ({ data }) => {
    const index = NODE_ERROR_CLASSES.findIndex((_, at) => dataOf(at, false) === data);
    const errorClass = NODE_ERROR_CLASSES[index];
    if (errorClass === undefined) return undefined;
    if (start !== 'at the first send' && !begun.has(data)) {
      begun.add(data);
      return start === 'after a time-out' ? timedOut({ deliver: false }) : undefined;
    }
    const more = left.get(data) ?? 0;
    left.set(data, more - 1);
    return more > 0 ? answer(errorClass, kept) : undefined;
  };
}

async function live(signers: readonly SignerId[]): Promise<void> {
  await makeDue(node);
  for (const signer of signers) node.get(LaneMemory).gapOpened(signer);
  await node.step(...signers);
  await node.checkReceipts();
  await node.resubmit();
  chain.mine();
  chain.mineEmpty(2);
  await node.follow();
  await node.bump();
}

describe.each(STARTS)('answers of every class, %s', (start) => {
  it.each([
    ['for ever', FOR_EVER],
    ['five times', FIVE_TIMES],
  ])(
    '%s: each payload ends, or waits with a reason and a next time, and what is behind it is mined',
    async (_, times) => {
      await startNode(times);
      const cases = await createCases();
      const signers = cases.map(({ signer }) => signer);
      refuse(start, times);
      await node.step(...signers);
      // Accepted once, and dropped by the pool since.
      if (start === 'after it was accepted once') chain.dropPool();
      for (let round = 0; round < ROUNDS; round += 1) await live(signers);
      const seen = await Promise.all(
        cases.map(async ({ errorClass, refused, behind }) => {
          const { state, subState, lastError, nextResubmitAt } = await node.tx(refused);
          const waits = subState !== null && lastError !== null && nextResubmitAt !== null;
          const end = ENDS.has(state) ? 'ends' : `${state} ${waits ? 'waits' : 'stands still'}`;
          return { errorClass, end, behind: (await node.tx(behind)).state };
        }),
      );
      const wrong = seen
        .filter((one) => times !== FOR_EVER || !waitsForFunds(start, one))
        .filter(({ end, behind }) => (end !== 'ends' && end !== 'PENDING waits') || behind !== 'CONFIRMED');
      expect(wrong).toEqual([]);
      if (times === FIVE_TIMES) expectNoneLost(await statesOf(cases), start);
      expectOnce();
    },
  );
});

describe('answers of every class, about what a pool keeps all the same', () => {
  it.each([
    ['for ever', FOR_EVER],
    ['five times', FIVE_TIMES],
  ])('%s: the chain alone decides, and each payload is CONFIRMED just when it was executed', async (_, times) => {
    await startNode(times);
    const cases = await createCases();
    const signers = cases.map(({ signer }) => signer);
    refuse('at the first send', times, 'kept');
    await node.step(...signers);
    for (let round = 0; round < 6; round += 1) await live(signers);
    const executed = new Set(chain.minedTxs().map(({ data }) => data));
    const states = await statesOf(cases);
    const said = cases.map(({ errorClass }) => ({ errorClass, state: states.get(errorClass) }));
    expect(said).toEqual(
      cases.map(({ errorClass }, index) => ({
        errorClass,
        state: executed.has(dataOf(index, false)) ? 'CONFIRMED' : 'FAILED',
      })),
    );
    expect(said.filter(({ state }) => state === 'CONFIRMED').length).toBeGreaterThan(cases.length / 2);
    for (const { behind } of cases) expect((await node.tx(behind)).state).toBe('CONFIRMED');
    expectOnce();
  });
});

/** What may be out waits for a top-up with its nonce, and so does what is behind it: a no-op would need funds, too. */
function waitsForFunds(start: Start, seen: { errorClass: NodeErrorClass; end: string; behind: string }): boolean {
  const { errorClass, end, behind } = seen;
  const mayBeOut = start !== 'at the first send';
  return mayBeOut && errorClass === 'insufficient_funds' && end === 'IN_MEMPOOL waits' && behind === 'IN_MEMPOOL';
}

async function statesOf(cases: readonly Case[]): Promise<Map<NodeErrorClass, string>> {
  return new Map(
    await Promise.all(
      cases.map(async ({ errorClass, refused }): Promise<[NodeErrorClass, string]> => [
        errorClass,
        (await node.tx(refused)).state,
      ]),
    ),
  );
}

/** Only what is refused for good ends a payload that would have been taken later. */
function expectNoneLost(states: ReadonlyMap<NodeErrorClass, string>, start: Start): void {
  const lost = [...states].filter(
    ([errorClass, state]) => state !== 'CONFIRMED' && ACTION[errorClass].response !== 'fail_payload',
  );
  expect({ start, lost }).toEqual({ start, lost: [] });
}

/** I8, whatever was answered. */
function expectOnce(): void {
  const payloads = chain.minedTxs().filter(({ data }) => data !== '0x');
  expect(new Set(payloads.map(({ data }) => data)).size).toBe(payloads.length);
}
