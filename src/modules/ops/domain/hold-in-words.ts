import { closing, type Words } from './races-in-words.js';
import type { TxFacts } from './tx-facts.js';

const FINAL = { next: 'nothing: this state is final', isUntimed: true } as const;
const BY_CHAIN = 'only the chain ends it now; Lockstep sends nothing for it';

/** Why a hold that has its nonce is where it is: its outside sender signs and sends, and Lockstep watches. */
export function holdInWords(facts: TxFacts): Words {
  const { state, nonce, expiresAt, failureReason, signer } = facts;
  if (state === 'ALLOCATED')
    return {
      why: `keeps nonce ${nonce} for its outside sender, and nothing that was sent with it was seen${behindIt(facts)}`,
      next:
        expiresAt === null
          ? 'it has no end by time: its sender uses it or gives it back, or the chain ends it'
          : `its sender uses it or gives it back; after ${expiresAt} it is given back as soon as two looks at the chain, at every endpoint, show it unused${signer.external ? '' : '; a minute later a no-op competes for the nonce, also without that'}`,
      operator: [`Ask its sender, or have it call …/nonces/${nonce}/consume, release or extend${orClose(facts)}.`],
      isUntimed: true,
    };
  if (facts.subState === 'CANCELLING') return closing(facts);
  if (state === 'IN_MEMPOOL')
    return {
      why: `keeps nonce ${nonce}, with which its outside sender has sent a transaction, or says so${behindIt(facts)}`,
      next: BY_CHAIN,
      operator: [`If nothing is mined for long, ask its sender to send again, at a higher price${orClose(facts)}.`],
      isUntimed: true,
    };
  if (state === 'CONFIRMED') return { why: `was consumed: nonce ${nonce} is used in a final block`, ...FINAL };
  if (state === 'FAILED')
    return { why: `was consumed: nonce ${nonce} is used in a final block, by a transaction that reverted`, ...FINAL };
  return { why: `ended: ${failureReason ?? 'no reason is known'}`, ...FINAL };
}

function orClose({ nonce, signer }: TxFacts): string {
  if (signer.external) return '. Lockstep has no key of the signer, so nothing else ends it';
  return `; if it cannot, POST …/nonces/${nonce}/close has a no-op compete for the nonce`;
}

function behindIt({ queue, signer: { inFlight } }: TxFacts): string {
  const behind = queue === null ? 0 : inFlight - queue.ahead - 1;
  if (behind <= 0) return '';
  return `; ${behind === 1 ? '1 transaction waits' : `${behind} transactions wait`} behind it`;
}
