import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../kernel/caller.js';
import { maxOf, toJsonInteger } from '../../../kernel/quantities.js';
import { parseSigner, type SignerId } from '../../../kernel/signer-id.js';
import { TRANSFER_GAS } from '../../../kernel/transaction-gas.js';
import { ChainRules, type FeeQuote, type Speed } from '../../chain/index.js';
import { type AttemptView, costOf, isFinal, mayBeInPool, TxQueries, type TxView } from '../../ledger/index.js';
import { explain, type Explanation } from '../domain/explanation.js';
import { pauseView, seesAll } from '../domain/pause-view.js';
import { marketBlobFee, marketPrice, priceFacts } from '../domain/prices.js';
import { ANOTHER_ACCOUNT, type TxFacts } from '../domain/tx-facts.js';
import { ChainStanding, type Standing } from './chain-standing.js';
import { SignerLimits } from './signer-limits.js';
import { type Surroundings, TxSurroundings } from './tx-surroundings.js';

/** A queue can be very long, and nobody needs to know how long beyond this. */
const MOST_COUNTED = 10_000;
const NOTHING_ASKED: Standing = { quote: null, balance: null, endpoints: [] };

export interface ExplainedTx {
  readonly facts: TxFacts;
  readonly explanation: Explanation;
}

/** Collects what is known about a tx, its queue, its signer and its chain, and says why it waits. Writes nothing; any node can do it. */
@Injectable()
export class ExplainTx {
  constructor(
    private readonly queries: TxQueries,
    private readonly surroundings: TxSurroundings,
    private readonly chain: ChainStanding,
    private readonly limits: SignerLimits,
    private readonly rules: ChainRules,
  ) {}

  /** Null for a tx that does not exist. */
  async execute(txId: string, caller: Caller): Promise<ExplainedTx | null> {
    const tx = await this.queries.find(txId, caller);
    if (tx === null) return null;
    const signer = parseSigner(String(tx.chainId), tx.signer);
    const [around, attempts, standing] = await Promise.all([
      this.surroundings.of(txId, signer, MOST_COUNTED),
      this.queries.attempts(txId),
      isFinal(tx.state) ? NOTHING_ASKED : this.chain.execute(signer),
    ]);
    if (around === null) return null;
    const facts = this.facts({ tx, signer, around, attempts, standing }, caller);
    return { facts, explanation: explain(facts) };
  }

  private facts({ tx, signer, around, attempts, standing }: Found, caller: Caller): TxFacts {
    const { quote, endpoints } = standing;
    const { txId, kind, chainId, state, subState, nonce, expiresAt, lastError, failureReason } = tx;
    const { blockedBy, inFlight, leaseOwner, paused, behind, external, nonceGap, command } = around;
    const speed = tx.speed as Speed;
    return {
      ...{ txId, kind, chainId, address: tx.signer, state, subState, nonce, expiresAt, lastError, failureReason },
      since: around.since.toISOString(),
      replacedBy: around.replacedBy,
      noOpSignedAt: attempts.find((attempt) => attempt.kind === 'cancel' && mayBeInPool(attempt))?.createdAt ?? null,
      command: command && {
        kind: command.kind,
        since: command.since.toISOString(),
        tries: command.tries,
        nextTryAt: command.dueAt.toISOString(),
      },
      nextTryAt: tx.nextResubmitAt,
      attempts: attempts.length,
      awaits: tx.state === 'PENDING' ? unsigned(tx) : [],
      awaitsPermits: tx.state === 'PENDING' ? ownersOf(tx) : [],
      queue: queueOf(tx, around),
      blockedBy: blockedBy && {
        ...blockedBy,
        nonce: toJsonInteger(blockedBy.nonce),
        heldBy: holderTo(caller, blockedBy),
      },
      price: quote && isUnmined(tx) ? priceFacts(quote, speed, attempts.filter(mayBeInPool).map(feesOf)) : null,
      endpoints: endpoints.map(({ endpoint, state: health, lastError: error }) => ({
        endpoint,
        state: health,
        lastError: error,
      })),
      balance: isUnmined(tx) ? balanceOf(tx, around, standing) : null,
      signer: {
        paused: paused && pauseView(paused, caller),
        behind,
        external,
        nonceGap,
        leaseOwner,
        inFlight,
        inFlightLimit: this.limits.of(signer),
      },
      mined: this.minedOf(tx, quote),
    };
  }

  private minedOf({ state, chainId, confirmations, receipt }: TxView, quote: FeeQuote | null): TxFacts['mined'] {
    if (state !== 'MINED' || receipt === null) return null;
    const { blockNumber } = receipt;
    const ofChain = this.rules.finality(chainId) === 'depth' ? this.rules.requiredConfirmations(chainId) : null;
    const required = confirmations ?? ofChain;
    const missing =
      required === null || quote === null ? null : Math.max(0, blockNumber + required - quote.blockNumber);
    return { blockNumber, required, missing };
  }
}

/** Accounts are nobody's business but their own, and that of operators. */
function holderTo(caller: Caller, { txId, heldBy }: NonNullable<Surroundings['blockedBy']>): string | null {
  return heldBy === null || txId !== null || seesAll(caller) ? heldBy : ANOTHER_ACCOUNT;
}

interface Found {
  readonly tx: TxView;
  readonly signer: SignerId;
  readonly around: Surroundings;
  readonly attempts: readonly AttemptView[];
  readonly standing: Standing;
}

function isUnmined({ state }: TxView): boolean {
  return state === 'PENDING' || state === 'ALLOCATED' || state === 'IN_MEMPOOL';
}

/** Its own signer signs with it. */
function unsigned(tx: TxView): string[] {
  return tx.payload.authorizationList.flatMap(({ signer, r }) =>
    signer === undefined || signer === tx.signer || r !== undefined ? [] : [signer],
  );
}

/** Of permits that are not signed. */
function ownersOf({ payload }: TxView): string[] {
  return payload.permits.flatMap(({ owner, permitNonce }) => (permitNonce === null ? [owner] : []));
}

function queueOf(tx: TxView, { waitingAhead, inFlightAhead }: Surroundings): TxFacts['queue'] {
  if (!isUnmined(tx)) return null;
  const ahead = waitingAhead.count + inFlightAhead;
  const isCut = waitingAhead.count >= MOST_COUNTED || inFlightAhead >= MOST_COUNTED;
  return isCut ? { position: null, ahead: MOST_COUNTED } : { position: ahead + 1, ahead };
}

/** What is up to this tx must be paid: what is in flight, and before a tx that waits, the queue. */
function balanceOf(
  tx: TxView,
  { committed, waitingAhead }: Surroundings,
  { balance, quote }: Standing,
): TxFacts['balance'] {
  if (balance === null || quote === null) return null;
  const price = { ...marketPrice(quote, tx.speed as Speed), maxFeePerBlobGas: marketBlobFee(quote) };
  const queuedAhead = costOf(waitingAhead, price);
  const own = tx.state === 'PENDING' ? costOf(amountsOf(tx), price) : 0n;
  return { balance, committed, queuedAhead, missing: maxOf(0n, committed + queuedAhead + own - balance) };
}

function amountsOf({ gasLimit, payload }: TxView) {
  const gas = BigInt(gasLimit ?? payload.gasLimit ?? TRANSFER_GAS);
  return { value: BigInt(payload.value), gas, blobs: BigInt(payload.blobs.length) };
}

function feesOf({ gasPrice, maxFeePerGas, maxPriorityFeePerGas }: AttemptView): {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
} {
  // Types 0 and 1 have one price.
  const price = gasPrice ?? '0';
  return {
    maxFeePerGas: BigInt(maxFeePerGas ?? price),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas ?? price),
  };
}
