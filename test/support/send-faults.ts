import { type Hex, parseHex } from '../../src/kernel/hex.js';
import type { BroadcastOutcome } from '../../src/modules/chain/index.js';
import type { ModelChain, ModelTx } from './model-chain.js';
import type { NodeErrorClass } from '../../src/kernel/node-error-class.js';

/** What a fault makes of one send; `deliver` says whether the node has the bytes all the same. */
export interface SendFault {
  readonly outcome: BroadcastOutcome;
  readonly deliver: boolean;
}

/** The node says no, and does not have the bytes. */
export function refused(errorClass: NodeErrorClass, message: string): SendFault {
  return { deliver: false, outcome: { kind: 'rejected', errorClass, message } };
}

/** The same, and only one endpoint was there to say so. */
export function refusedByOne(errorClass: NodeErrorClass, message: string): SendFault {
  return { deliver: false, outcome: { kind: 'rejected', errorClass, message, alone: true } };
}

/** A payload that can never be sent, whoever asks. */
export const OVERSIZED = refused('oversized_data', 'oversized data');

/**
 * The node says no to the payload with this tag, and keeps it all the same; it forgets every other transaction with its nonce. It offers it to
 * the miners when the next transaction of the account comes.
 */
export function keptInSpite(
  chain: ModelChain,
  tag: number,
  refusal: SendFault,
): (tx: ModelTx) => SendFault | undefined {
  let kept: ModelTx | null = null;
  return (tx) => {
    if (tx.data === tagged(tag)) {
      kept ??= tx;
      return refusal;
    }
    if (tx.from !== kept?.from) return undefined;
    chain.force(kept);
    return tx.nonce === kept.nonce ? { deliver: false, outcome: { kind: 'accepted' } } : undefined;
  };
}

/** The bytes never leave this process: every connection is refused. The only proof that nothing is out. */
export const NOT_SENT: SendFault = { deliver: false, outcome: { kind: 'not_sent', message: 'ECONNREFUSED' } };

/** No answer: only the test knows whether the node has the bytes. */
export function timedOut({ deliver }: Pick<SendFault, 'deliver'>): SendFault {
  return { deliver, outcome: { kind: 'unknown', errorClass: 'transient', message: 'timeout' } };
}

/** Call data that is easy to find again on chain. */
export function tagged(tag: number): Hex {
  return parseHex(`0x${tag.toString(16).padStart(8, '0')}`);
}

/** A fault that befalls the payload with this tag alone. */
export function onlyFor<Fault>(tag: number, fault: Fault): (asked: { readonly data: string }) => Fault | undefined {
  return ({ data }) => (data === tagged(tag) ? fault : undefined);
}
