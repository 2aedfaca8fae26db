import { ChainFeesConfig } from '../../src/config/sections/chain-config.js';
import type { Hash } from '../../src/kernel/hex.js';
import type { Network } from './network/network.js';
import type { SentLog } from './sent-log.js';
import { BUMP_DEPTH } from './sim-config.js';
import type { AttemptRow, Snapshot, TxRow } from './snapshot.js';
import { Violation } from './violation.js';

/** Wei per gas. Some ten times what this chain ever asks for; a quote that is mad asks for a thousand times more than usual. */
const DEAREST = 2_000_000_000_000n;
/** Of `chains[].fees`. */
const DEFAULT_CAP = new ChainFeesConfig().maxFeePerGas;
/** An eighth more each time leads from the market to where no refusal raises the price any more within fewer. */
const MOST_ATTEMPTS = 30;

/** Every price is within the caps, and another attempt for a nonce pays an eighth more than those that a pool may have (design section 8). */
export function checkPrices(before: Snapshot, now: Snapshot, network: Network, sent: SentLog): void {
  const known = new Set(before.attempts.map(({ hash }) => hash));
  for (const attempt of now.attempts) {
    // What was lost and found again was priced by what was known then.
    if (known.has(attempt.hash) || network.chain.lostBytes.has(attempt.hash)) continue;
    // An outside sender named its price itself.
    if (network.chain.signedOutside.has(attempt.hash)) continue;
    checkCap(attempt, network);
    const rivals = before.attempts.filter((each) => isRival(each, attempt) && sent.mayBeInPool(each.hash as Hash));
    for (const rival of rivals) checkRaise(rival, attempt, network);
    if (rivals.some((rival) => isBump(rival, attempt))) checkDepth(attempt, before, now);
  }
  checkCount(now);
}

/** Another price for the same. What has more gas was refused for too little, at whatever place. */
function isBump({ tx, kind, gas }: AttemptRow, attempt: AttemptRow): boolean {
  return tx === attempt.tx && kind === 'payload' && attempt.kind === 'payload' && attempt.gas <= gas;
}

function checkCap(attempt: AttemptRow, { rules }: Network): void {
  const { hash, feeCap, tip } = attempt;
  const most = isLastNoOp(attempt, rules) ? BigInt(feeCap) : capOf(rules);
  if (BigInt(feeCap) > most) fail('I13', `${hash} offers ${feeCap} wei for a unit of gas, above the cap of ${most}`);
  if (BigInt(tip) > BigInt(feeCap)) fail('fees', `${hash} offers a tip of ${tip}, and ${feeCap} at most`);
}

function checkRaise(earlier: AttemptRow, attempt: AttemptRow, { rules }: Network): void {
  if (isLastNoOp(attempt, rules)) return;
  if (isRaised(earlier.feeCap, attempt.feeCap) && isRaised(earlier.tip, attempt.tip)) return;
  fail(
    'fees',
    `${attempt.kind} ${attempt.hash} offers ${attempt.feeCap} and ${attempt.tip} at nonce ${attempt.nonce} of ${attempt.signer}, ` +
      `where ${earlier.kind} ${earlier.hash} of ${earlier.feeCap} and ${earlier.tip} may be out`,
  );
}

/**
 * Only the lowest nonces get another price, but for a client that asks: what is behind them waits for them. A node may know less of the chain than
 * the rows say, and of what it knew between the two looks only that is certain which is so in both.
 */
function checkDepth({ hash, signer, nonce, tx: of }: AttemptRow, before: Snapshot, now: Snapshot): void {
  if (now.commands.some(({ kind, tx }) => kind === 'speed_up' && tx === of)) return;
  // A slot is one nonce, also while several txs compete for it, and it is mined with one of them.
  const below = ({ txs }: Snapshot): Set<number> => {
    const lower = txs.filter((tx) => tx.signer === signer && (tx.nonce ?? nonce) < nonce);
    const mined = new Set(lower.filter(({ state }) => state === 'MINED').map((tx) => tx.nonce));
    return new Set(lower.flatMap((tx) => (isUnmined(tx) && !mined.has(tx.nonce) ? (tx.nonce ?? []) : [])));
  };
  const after = below(now);
  const place = [...below(before)].filter((lower) => after.has(lower)).length;
  if (place >= BUMP_DEPTH)
    fail('fees', `${hash} raises the price of nonce ${nonce} of ${signer}, with ${place} unmined below it`);
}

function isUnmined({ state }: TxRow): boolean {
  return state === 'ALLOCATED' || state === 'IN_MEMPOOL';
}

function checkCount({ attempts }: Snapshot): void {
  const counts = new Map<string, number>();
  for (const { tx, signer, nonce } of attempts) {
    const key = `${tx} at nonce ${nonce} of ${signer}`;
    const count = (counts.get(key) ?? 0) + 1;
    if (count > MOST_ATTEMPTS) fail('fees', `${key} has more than ${MOST_ATTEMPTS} attempts`);
    counts.set(key, count);
  }
}

function isRival(one: AttemptRow, other: AttemptRow): boolean {
  return one.signer === other.signer && one.nonce === other.nonce;
}

function isRaised(from: string, to: string): boolean {
  return BigInt(to) * 8n >= BigInt(from) * 9n;
}

/** A no-op that cannot outbid is tried once at the caps: nobody may have kept the other one, and no dearer one can follow. */
function isLastNoOp({ kind, feeCap }: AttemptRow, { maxFeePerGas }: Network['rules']): boolean {
  return kind !== 'payload' && BigInt(feeCap) === (maxFeePerGas ?? DEFAULT_CAP);
}

function capOf({ maxFeePerGas }: Network['rules']): bigint {
  return maxFeePerGas ?? DEAREST;
}

function fail(invariant: string, words: string): never {
  throw new Violation(invariant, words);
}
