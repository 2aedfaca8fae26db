import type { TxState, TxSubState } from '../../ledger/index.js';
import { holdInWords } from './hold-in-words.js';
import { howToResume, pausedInWords } from './pause-view.js';
import { closing, racing, refused, type Words } from './races-in-words.js';
import { noticesOf, whyInPool, whyWaiting } from './surroundings-in-words.js';
import type { TxFacts } from './tx-facts.js';

/** Why a tx is where it is, what happens next, and what a person can do about it. */
export interface Explanation {
  readonly summary: string;
  readonly next: { readonly what: string; readonly at: string | null };
  readonly operator: readonly string[];
}

type Say = (facts: TxFacts) => Words;

const SEND_AGAIN = 'Lockstep sends the same bytes again';
const TRY_AGAIN = 'Lockstep tries again';

const FINAL = { next: 'nothing: this state is final', isUntimed: true } as const;

/** For txs without a sub state. */
const BY_STATE: Readonly<Record<TxState, Say>> = {
  PENDING: (facts) => ({
    why: `waits for a nonce: ${whyWaiting(facts)}`,
    next: facts.kind === 'hold' ? 'it gets a nonce' : 'it gets a nonce, and is signed and sent',
  }),
  ALLOCATED: ({ nonce }) => ({
    why: `has nonce ${nonce}, and no RPC endpoint has accepted it yet`,
    next: 'the node that owns its signer signs and sends it',
  }),
  IN_MEMPOOL: (facts) => ({
    why: `was sent and is not mined: ${whyInPool(facts)}${said(facts.lastError)}`,
    next: SEND_AGAIN,
  }),
  MINED: (facts) => ({ ...mined(facts), isUntimed: true }),
  CONFIRMED: () => ({ why: 'was mined with success, and its block is deep enough', ...FINAL }),
  FAILED: ({ failureReason }) => ({
    why: `failed: ${failureReason ?? 'no reason is known'}`,
    operator: ['Read the reason; to execute the payload send a new request with another requestId.'],
    ...FINAL,
  }),
  CANCELLED: () => ({ why: 'was cancelled; its payload was not executed', ...FINAL }),
  REPLACED: ({ replacedBy }) => ({
    why: `was replaced: transaction ${replacedBy ?? '(not known)'} took its nonce`,
    ...FINAL,
  }),
  DROPPED: ({ kind }) => ({
    why:
      kind === 'fill'
        ? 'is not needed any more: a foreign transaction used its nonce'
        : 'was dropped: it expired before it was sent, or the transaction that it was to replace was mined',
    ...FINAL,
  }),
};

const BY_SUB_STATE: Readonly<Record<TxSubState, Say>> = {
  NONCE_SYNC: ({ nonce, chainId, address }) => ({
    why:
      nonce === null
        ? 'waits until it is known which transactions of its signer are out, because the database lost commits'
        : `waits because an RPC endpoint says that nonce ${nonce} is used, and no attempt of it has a receipt`,
    next: 'Lockstep asks the chain again; the payload gets another nonce only when a foreign transaction used this one for good',
    operator: [`If the signer stands still, POST /api/v1/signers/${chainId}/${address}/sync.`],
  }),
  STALE: (facts) => ({ why: `was sent more than once and is not mined: ${whyInPool(facts)}`, next: SEND_AGAIN }),
  FEE_CAPPED: ({ price }) => ({
    why:
      `waits because the market is above the highest price that may be paid for it` +
      (price ? ` (the market asks for ${price.market.maxFeePerGas} wei per gas)` : ''),
    next: `${TRY_AGAIN} at the price that is allowed`,
    operator: ['Wait for lower fees, raise chains[].fees of the chain, or cancel the transaction.'],
  }),
  INSUFFICIENT_FUNDS: ({ balance, address }) => ({
    why:
      'waits because the balance of its signer does not cover its value and gas' +
      (balance && balance.missing > 0n ? `: ${balance.missing} wei are missing` : ''),
    next: `${TRY_AGAIN}, and goes on as soon as the balance is enough`,
    operator: [
      balance && balance.missing > 0n ? `Send at least ${balance.missing} wei to ${address}.` : `Top up ${address}.`,
    ],
  }),
  OUTCOME_UNKNOWN: ({ lastError }) => ({
    why: `counts as sent, because the answer to its last send is not clear${said(lastError)}`,
    next: `${SEND_AGAIN} and looks for a receipt`,
    operator: ['See the state of the RPC endpoints in the facts.'],
  }),
  CANCELLING: closing,
  REFUSED: refused,
  REPLACING: racing,
  REORG_DETECTED: () => ({
    why: 'was mined in a block that a reorg orphaned',
    next: `${SEND_AGAIN}, unless it is mined again first`,
  }),
  SIGNER_PAUSED: ({ signer: { paused } }) => ({
    why: `waits because ${paused ? pausedInWords(paused) : 'its signer is paused'}`,
    next: 'it gets a nonce after its signer is resumed',
    operator: paused ? [howToResume(paused)] : [],
    isUntimed: true,
  }),
  ACCOUNT_STOPPED: ({ signer: { paused } }) => ({
    why: `waits because ${paused?.account ? pausedInWords(paused) : 'its account was stopped'}`,
    next: 'it gets a nonce after the stop of its account ends',
    operator: paused?.account ? [howToResume(paused)] : [],
    isUntimed: true,
  }),
  NODE_REFUSED: ({ lastError }) => ({
    why: `waits because every RPC endpoint refuses it for now${said(lastError)}`,
    next: `${TRY_AGAIN}; after 10 equal refusals a no-op uses its nonce up, and it gets another one or fails`,
    operator: ['Read what the RPC endpoints say; another endpoint may accept it.'],
  }),
  POOL_LIMIT: ({ lastError, signer: { inFlightLimit } }) => ({
    why:
      `waits because the pools have no room for it${said(lastError)}` +
      (inFlightLimit.learnt === null ? '' : `; they take ${inFlightLimit.learnt} transactions of its signer at once`),
    next: `${SEND_AGAIN} as soon as earlier transactions of its signer are mined, and at this time at the latest`,
    operator: [
      'Nothing has to be done. For more at once, use RPC endpoints that keep more transactions of one account.',
    ],
  }),
  NODE_UNAVAILABLE: ({ lastError }) => ({
    why: `waits because no RPC endpoint answers${said(lastError)}`,
    next: TRY_AGAIN,
    operator: ['See /health/ready, and the state of the RPC endpoints in the facts.'],
  }),
  SIMULATION_REVERTED: ({ lastError, blockedBy }) => ({
    why:
      `waits because its gas estimate reverts${said(lastError)}` +
      (blockedBy ? '; older transactions of its signer may change that' : ''),
    next: 'Lockstep estimates it again at a later block; it fails when that reverts, too, and nothing older is left',
    operator: ['Cancel it if the payload is wrong.'],
  }),
  SIGNER_UNAVAILABLE: ({ address, lastError }) => ({
    why: `waits because no live node can sign for its signer${said(lastError)}`,
    next: 'it goes on when a node can',
    operator: [`Add ${address} to the config of a node again, or see why its custody does not sign (logs).`],
    isUntimed: true,
  }),
  POLICY_HELD: ({ lastError }) => ({
    why: `waits because a daily amount of its signer has no room for it${said(lastError)}`,
    next: `${TRY_AGAIN}: there is room when earlier transactions cost less than was reserved, or 24 hours after they were final`,
    operator: ['Wait, raise the amount in chains[].signers[].policy, or cancel the transaction.'],
  }),
};

const FINAL_STATES: ReadonlySet<TxState> = new Set(['CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED']);

/** Says it in plain words. */
export function explain(facts: TxFacts): Explanation {
  const isFinal = FINAL_STATES.has(facts.state);
  const say = wordsOf(facts, isFinal);
  const { why, next, operator = [], isUntimed = false } = say(facts);
  const notices = isFinal ? { summary: [], operator: [] } : noticesOf(facts);
  const subject = { fill: 'The fill', hold: 'The hold', payload: 'The transaction' }[facts.kind];
  return {
    summary: [`${subject} ${why}.`, ...notices.summary].join(' '),
    next: { what: next, at: isUntimed ? null : facts.nextTryAt },
    operator: [...operator, ...notices.operator],
  };
}

function wordsOf({ kind, state, subState }: TxFacts, isFinal: boolean): Say {
  if (kind === 'hold' && state !== 'PENDING' && state !== 'MINED') return holdInWords;
  return subState === null || isFinal ? BY_STATE[state] : BY_SUB_STATE[subState];
}

function mined({ mined: block }: TxFacts): Words {
  const next = 'it becomes CONFIRMED, or FAILED if it reverted';
  if (block === null) return { why: 'was mined, and waits until its block is final', next };
  const where = `was mined in block ${block.blockNumber}`;
  if (block.required === null) return { why: `${where}, and waits until the chain tags this block as final`, next };
  if (block.missing === null) return { why: `${where}, and is final with ${block.required} blocks on top`, next };
  // A tag of the chain may have to reach it besides, or endpoints are behind.
  if (block.missing === 0)
    return {
      why: `${where}, which is deep enough, and waits until the RPC endpoints agree that this block is final`,
      next,
    };
  return { why: `${where}, and waits for ${blocks(block.missing)} more of ${block.required}`, next };
}

function blocks(count: number): string {
  return count === 1 ? '1 block' : `${count} blocks`;
}

function said(error: string | null): string {
  return error === null ? '' : ` ("${error}")`;
}
