import { type Hex, parseHex } from '../../src/kernel/hex.js';
import type { BroadcastOutcome } from '../../src/modules/chain/index.js';
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
