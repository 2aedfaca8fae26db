import { beforeEach, expect, it } from '@jest/globals';
import { ResubmitConfig } from '../../../src/config/index.js';
import type { NodeErrorClass } from '../../../src/kernel/node-error-class.js';
import type { RefusalEvidence } from '../../../src/modules/sending/application/refusal-evidence.js';
import type { AnsweredSend } from '../../../src/modules/sending/application/send.js';
import type { TxSubState } from '../../../src/modules/ledger/index.js';
import { refusalEvidence } from '../../support/refusals.js';
import { aManagedTx, anAttempt } from '../../support/builders.js';
import { ModelChain } from '../../support/model-chain.js';

/** The model chain gives every account so much. */
const BALANCE = 1_000n * 10n ** 18n;
const MAX_REFUSALS = 3;

let chain: ModelChain;
/** What the txs in flight of the signer may cost. */
let committed: bigint;
/** How often it was asked for. */
let asked: number;
let evidence: RefusalEvidence;

beforeEach(() => {
  [chain, committed, asked] = [new ModelChain(), BALANCE, 0];
  evidence = refusalEvidence(
    () => ((asked += 1), committed),
    Object.assign(new ResubmitConfig(), { maxRefusals: MAX_REFUSALS }),
  );
});

/** Refused by one endpoint alone, after so many answers in a row that had the same sub state. */
function refused(errorClass: NodeErrorClass, subState: TxSubState, tries: number): AnsweredSend {
  const attempt = anAttempt();
  const tx = aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n, subState, tries }).build();
  return { tx, attempt, outcome: { attempt, status: 'UNKNOWN', errorClass, error: 'no', notSent: false, alone: true } };
}

it('a refusal for lack of funds is checked against the balance and all that is in flight, before it ends something', async () => {
  const early = refused('insufficient_funds', 'INSUFFICIENT_FUNDS', MAX_REFUSALS - 2);
  expect((await evidence.collect(chain, [early])).funded.size).toBe(0);
  expect(asked).toBe(0);
  const late = refused('insufficient_funds', 'INSUFFICIENT_FUNDS', MAX_REFUSALS - 1);
  expect((await evidence.collect(chain, [early, late])).funded).toEqual(new Set([late]));
  committed += 1n;
  expect((await evidence.collect(chain, [late])).funded.size).toBe(0);
});

it('a balance that nobody tells in time is not enough, and others do not wait for it', async () => {
  const silent = refused('insufficient_funds', 'INSUFFICIENT_FUNDS', MAX_REFUSALS - 1);
  chain.balances = () => new Promise(() => undefined);
  committed = 0n;
  expect((await evidence.collect(chain, [silent])).funded.size).toBe(0);
});

it('a balance that comes too late is not enough later: a tx may be mined since, which is in flight no more', async () => {
  const late = refused('insufficient_funds', 'INSUFFICIENT_FUNDS', MAX_REFUSALS - 1);
  const arrived = new Promise<bigint[]>((resolve) => setTimeout(resolve, 20, [BALANCE]));
  chain.balances = () => arrived;
  expect((await evidence.collect(chain, [late])).funded.size).toBe(0);
  await arrived;
  await new Promise((resolve) => setImmediate(resolve));
  chain.balances = async () => [0n];
  committed = 1n;
  expect((await evidence.collect(chain, [late])).funded.size).toBe(0);
});

it('a nonce that nodes call used is free while the chain has not counted it', async () => {
  const early = refused('nonce_too_low', 'NONCE_SYNC', MAX_REFUSALS - 2);
  const late = refused('nonce_too_low', 'NONCE_SYNC', MAX_REFUSALS - 1);
  expect((await evidence.collect(chain, [early, late])).nonceIsFree).toEqual(new Set([late]));
});

it('a refusal for good by one endpoint alone is unconfirmed until it repeats it at a later block, and is forgotten once accepted', async () => {
  const send = refused('oversized_data', 'NODE_REFUSED', 0);
  expect((await evidence.collect(chain, [send])).unconfirmed).toEqual(new Set([send]));
  chain.mine();
  expect((await evidence.collect(chain, [send])).unconfirmed.size).toBe(0);
  const accepted: AnsweredSend = {
    ...send,
    outcome: { ...send.outcome, status: 'ACCEPTED', errorClass: null, error: null, alone: false },
  };
  await evidence.collect(chain, [accepted]);
  expect((await evidence.collect(chain, [send])).unconfirmed).toEqual(new Set([send]));
});

it('the txs in flight are read before the balances: one that is mined in between counts twice, and is not left out', async () => {
  const balances = chain.balances.bind(chain);
  chain.balances = (accounts) => ((committed = 0n), balances(accounts));
  committed = BALANCE + 1n;
  const late = refused('insufficient_funds', 'INSUFFICIENT_FUNDS', MAX_REFUSALS - 1);
  expect((await evidence.collect(chain, [late])).funded.size).toBe(0);
});
