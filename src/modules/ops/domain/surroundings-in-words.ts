import { TRANSFER_GAS } from '../../../kernel/transaction-gas.js';
import { howToResume, pausedInWords } from './pause-view.js';
import { ANOTHER_ACCOUNT, type TxFacts } from './tx-facts.js';

/** Why a tx without a nonce gets none yet. */
export function whyWaiting({ kind, awaits, awaitsPermits, lastError, queue, signer }: TxFacts): string {
  if (awaits.length > 0)
    return `${awaits.join(' and ')} must sign an authorization for it, with nothing else in flight`;
  if (awaitsPermits.length > 0)
    return `${awaitsPermits.join(' and ')} must sign a permit for it, when those before are mined`;
  if (kind === 'hold' && lastError !== null) return lastError;
  const { inFlight, inFlightLimit, leaseOwner } = signer;
  const limit = inFlightLimit.learnt ?? inFlightLimit.configured;
  const why = inFlightLimit.delegated ? ', because its account runs the code of a contract' : '';
  if (inFlight >= limit)
    return `${inFlight} of at most ${limit} transactions of its signer are in flight already${why}`;
  if (leaseOwner === null) return 'no node acts for its signer yet';
  if (queue !== null && queue.ahead > 0) return `${transactions(queue.ahead, queue.position === null)} ahead of it`;
  return 'it is the next of its signer';
}

/** Why a tx that was sent is in no block yet. */
export function whyInPool({ blockedBy, price, balance }: TxFacts): string {
  if (blockedBy && blockedBy.heldBy !== null)
    return `the lower nonce ${blockedBy.nonce}, which an outside sender of ${blockedBy.heldBy === ANOTHER_ACCOUNT ? '' : 'the account '}${blockedBy.heldBy} has, must be used or given back first`;
  if (blockedBy) {
    const which = blockedBy.txId === null ? 'a transaction of another account' : `transaction ${blockedBy.txId}`;
    return `${which} with the lower nonce ${blockedBy.nonce} must be mined first`;
  }
  if (price?.highestAttempt == null) return 'it is the next of its signer';
  if (price.highestAttempt.maxFeePerGas === 0n && price.market.maxFeePerGas === 0n) {
    const isEmpty = balance !== null && balance.balance < TRANSFER_GAS;
    return (
      'gas is free, so its price is not the reason' +
      (isEmpty ? ', and the balance of the signer does not cover a price above 0, so nothing can outbid it' : '')
    );
  }
  if (price.aboveMarket) return 'it pays more than nine of ten recent transactions, so its price is not the reason';
  const { highestAttempt: paid, market } = price;
  if (paid.maxFeePerGas < market.maxFeePerGas || paid.maxPriorityFeePerGas < market.maxPriorityFeePerGas)
    return 'its price is below the market of its speed';
  return 'it is the next of its signer, and its price is that of the market';
}

/** What an operator should know besides, whatever the state. */
export function noticesOf(facts: TxFacts): {
  readonly summary: readonly string[];
  readonly operator: readonly string[];
} {
  const { subState, signer, endpoints, balance, address, nonce } = facts;
  const summary = [...expiryOf(facts), ...commandOf(facts)];
  const operator: string[] = [];
  if (signer.paused && subState !== 'SIGNER_PAUSED' && subState !== 'ACCOUNT_STOPPED') {
    summary.push(
      `Nothing gets a new nonce${signer.paused.account === null ? ', a higher price' : ''} or another payload: ${pausedInWords(signer.paused)}. What was sent is watched.`,
    );
    operator.push(howToResume(signer.paused));
  }
  if (signer.behind !== null) {
    summary.push(`Nothing of its signer is sent since ${signer.behind.since}: ${behindInWords(signer.behind)}.`);
    operator.push(`See GET /api/v1/signers, and "The chain is behind our books" in the operations guide.`);
  }
  if (signer.nonceGap !== null && nonce !== null && BigInt(nonce) > BigInt(signer.nonceGap.nonce)) {
    summary.push(`The lower nonce ${signer.nonceGap.nonce} is nobody's, and Lockstep has no key to fill it.`);
    operator.push('Reserve a nonce with POST …/nonces, which gets that one, and use it.');
  }
  if (endpoints.length > 0 && endpoints.every(isDead)) {
    summary.push('No RPC endpoint of its chain answers this node.');
    operator.push('Check the RPC endpoints: /health/ready shows each of them.');
  }
  if (balance !== null && balance.missing > 0n && subState !== 'INSUFFICIENT_FUNDS')
    operator.push(
      `Send at least ${balance.missing} wei to ${address}: its balance does not cover what is up to this transaction.`,
    );
  return { summary, operator };
}

function behindInWords({ cause, chainNonce, usedBelow }: NonNullable<TxFacts['signer']['behind']>): string {
  const nonce = chainNonce === null ? '' : `, and says that its next nonce is ${chainNonce}`;
  return cause === 'CHAIN_RESET'
    ? `the chain was reset: its first blocks are not those on which the nonces below ${usedBelow} were used${nonce}`
    : `the chain is behind our books: all nonces below ${usedBelow} were used in final blocks${nonce}`;
}

function expiryOf({ kind, state, subState, expiresAt }: TxFacts): string[] {
  if (expiresAt === null || state === 'MINED') return [];
  if (kind === 'hold' && state !== 'PENDING') return [];
  if (state === 'PENDING') return [`If it has no nonce at ${expiresAt}, it ends DROPPED.`];
  if (subState === 'CANCELLING' || subState === 'REFUSED' || subState === 'REPLACING') return [];
  return [`If it is not mined at ${expiresAt}, a no-op with its nonce competes with it.`];
}

const WISHES = {
  cancel: 'cancel it',
  replace: 'replace it',
  speed_up: 'speed it up',
  release: 'take its nonce back',
  consume: 'watch what has its nonce',
  extend: 'keep its nonce longer',
  close: 'close it',
} as const;

function commandOf({ command }: TxFacts): string[] {
  if (command === null) return [];
  const { kind, since, tries, nextTryAt } = command;
  const asked = `${kind === 'close' ? 'An operator' : 'Its client'} asked at ${since} to ${WISHES[kind]}`;
  if (tries === 0) return [`${asked}; the owner of its signer carries this out next.`];
  return [
    `${asked}; that could not be done yet (${tries === 1 ? 'one try' : `${tries} tries`}), and is tried again at ${nextTryAt}.`,
  ];
}

/** An endpoint that was never called is not dead: a node of role `api` calls none for days. */
function isDead({ state, lastError }: TxFacts['endpoints'][number]): boolean {
  return state === 'backing_off' || state === 'wrong_chain' || (state === 'unverified' && lastError !== null);
}

function transactions(count: number, isMore: boolean): string {
  return isMore
    ? `more than ${count} transactions are`
    : count === 1
      ? '1 transaction is'
      : `${count} transactions are`;
}
