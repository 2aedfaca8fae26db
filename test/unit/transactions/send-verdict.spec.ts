import { describe, expect, it } from '@jest/globals';
import { parseAddress, parseHash, parseHex } from '../../../src/kernel/hex.js';
import { type Attempt, outcomeOf } from '../../../src/modules/transactions/domain/attempt.js';
import { verdictOf } from '../../../src/modules/transactions/domain/send-verdict.js';

function anAttempt(status: Attempt['status']): Attempt {
  return {
    signer: { chainId: 1337, address: parseAddress(`0x${'aa'.repeat(20)}`) },
    nonce: 7n,
    txHash: parseHash(`0x${'ab'.repeat(32)}`),
    raw: parseHex('0x02'),
    kind: 'payload',
    txId: 'tx',
    gasLimit: 21_000n,
    fees: { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
    status,
    errorClass: null,
  };
}

describe('a send that surely never left', () => {
  const NOT_SENT = { kind: 'not_sent', message: 'ECONNREFUSED' } as const;

  it.each(['SIGNED', 'REJECTED', 'UNKNOWN'] as const)('leaves an attempt %s, and is tried again soon', (status) => {
    const outcome = outcomeOf(anAttempt(status), NOT_SENT);
    expect(outcome).toMatchObject({ status, errorClass: null, error: 'ECONNREFUSED' });
    expect(verdictOf(outcome)).toEqual({ kind: 'waiting', subState: null, retryInMs: 2_000 });
  });

  it('changes nothing for an attempt that was accepted before', () => {
    const outcome = outcomeOf(anAttempt('ACCEPTED'), NOT_SENT);
    expect(outcome.status).toBe('ACCEPTED');
    expect(verdictOf(outcome)).toEqual({ kind: 'sent', subState: null, askReceipt: false });
  });
});
