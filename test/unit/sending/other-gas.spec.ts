import { beforeEach, describe, expect, it } from '@jest/globals';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import type { GasEstimate } from '../../../src/modules/chain/index.js';
import { AttemptRepository, type Attempt, ManagedTxRepository } from '../../../src/modules/ledger/index.js';
import { OtherGas } from '../../../src/modules/sending/application/other-gas.js';
import type { AnsweredSend } from '../../../src/modules/sending/application/send.js';
import { outcomeOf } from '../../../src/modules/sending/domain/send-verdict.js';
import { aHash, aManagedTx, anAttempt, aRequest, DEV_CHAIN } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { gasRules } from '../../support/gas-rules.js';

const CLOSING = { as: 'FAILED', reason: 'refused', won: false } as const;

/** The limit that the client gave; null where it left that to Lockstep. */
let given: bigint | null;
let stored: Attempt[];
let estimate: () => Promise<GasEstimate[]>;
let asked: number;

beforeEach(() => {
  [given, stored, asked] = [null, [], 0];
  estimate = async () => [{ kind: 'ok', gas: 80_000n }];
});

function aRefusal(attempt: Partial<Attempt> = {}, words = 'intrinsic gas too low'): AnsweredSend {
  const sent = anAttempt({ gasLimit: 50_000n, ...attempt });
  stored.push(sent);
  const outcome = outcomeOf(sent, { kind: 'rejected', errorClass: 'intrinsic_gas_too_low', message: words });
  return {
    tx: aManagedTx({ txId: 'tx', state: 'ALLOCATED', nonce: 7n, gasLimit: 50_000n }).build(),
    attempt: sent,
    outcome,
  };
}

async function more(send: AnsweredSend, cap?: bigint): Promise<bigint | null> {
  const gas = new OtherGas(
    fakeOf(ManagedTxRepository, {
      requested: async () => [
        { tx: send.tx, request: aRequest({ payload: { ...aRequest().payload, gasLimit: given } }) },
      ],
    }),
    fakeOf(AttemptRepository, { ofSlots: async () => stored }),
    gasRules(cap),
  );
  const chain = fakeOf(EthersChainConnector, { chainId: DEV_CHAIN, estimateGas: () => ((asked += 1), estimate()) });
  return (await gas.execute(chain, [send])).get(send) ?? null;
}

describe('more gas for what was refused as too little', () => {
  it('is the new estimate with its margin', async () => {
    expect(await more(aRefusal())).toBe(100_000n);
  });

  it('is a margin above what was refused while the estimate is not above it, or hangs', async () => {
    estimate = async () => [{ kind: 'ok', gas: 40_000n }];
    expect(await more(aRefusal())).toBe(62_500n);
    estimate = () => new Promise(() => undefined);
    expect(await more(aRefusal())).toBe(62_500n);
  });

  it('is not above what a transaction of the chain may have, and is none at that', async () => {
    expect(await more(aRefusal(), 90_000n)).toBe(90_000n);
    expect(await more(aRefusal({ gasLimit: 90_000n }), 90_000n)).toBeNull();
  });

  it('is found twice: as often as its attempts have other limits, whoever asks; those of others do not count', async () => {
    stored = [anAttempt({ txId: 'original', gasLimit: 1n }), anAttempt({ txId: 'original', gasLimit: 2n })];
    expect(await more(aRefusal())).toBe(100_000n);
    stored.push(anAttempt({ gasLimit: 50_000n, txHash: aHash(2) }));
    expect(await more(aRefusal({ gasLimit: 62_500n }))).toBe(100_000n);
    expect(await more(aRefusal({ gasLimit: 78_125n }))).toBeNull();
  });

  it.each<[string, () => AnsweredSend]>([
    [
      'what was refused for another reason',
      () => ({ ...aRefusal(), outcome: { ...aRefusal().outcome, errorClass: 'oversized_data' } }),
    ],
    ['a no-op', () => aRefusal({ kind: 'cancel' })],
    [
      'a payload whose slot is being closed',
      () => ({
        ...aRefusal(),
        tx: aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n, closing: CLOSING, failureReason: 'refused' }).build(),
      }),
    ],
  ])('is not looked for, and the chain is not asked, for %s', async (_what, send) => {
    expect([await more(send()), asked]).toEqual([null, 0]);
  });

  it('is not looked for where the client gave the limit', async () => {
    given = 50_000n;
    expect([await more(aRefusal()), asked]).toEqual([null, 0]);
  });

  it('is none for a payload that would revert by now', async () => {
    estimate = async () => [{ kind: 'reverted', reason: 'too late' }];
    expect(await more(aRefusal())).toBeNull();
  });
});

describe('less gas again for what got more, and cannot be paid', () => {
  const unpaid = (gasLimit: bigint): AnsweredSend => {
    const send = aRefusal({ gasLimit, txHash: aHash(9) });
    return { ...send, outcome: { ...send.outcome, errorClass: 'insufficient_funds' } };
  };

  it('is the new estimate with its margin, and a margin above what was too little while there is none', async () => {
    aRefusal();
    expect(await more(unpaid(10n ** 9n))).toBe(100_000n);
    estimate = async () => [{ kind: 'unavailable', message: 'busy' }];
    expect(await more(unpaid(10n ** 9n))).toBe(62_500n);
  });

  it('is none where the estimate is as high still, and for what it had at first', async () => {
    expect(await more(unpaid(10n ** 9n))).toBeNull();
    aRefusal();
    estimate = async () => [{ kind: 'ok', gas: 10n ** 9n }];
    expect(await more(unpaid(10n ** 9n))).toBeNull();
  });

  it('is given after as many times of more gas as there are, and then no more', async () => {
    stored = [anAttempt({ gasLimit: 50_000n, txHash: aHash(2) }), anAttempt({ gasLimit: 62_500n, txHash: aHash(3) })];
    expect(await more(unpaid(10n ** 9n))).toBe(100_000n);
    stored.push(anAttempt({ gasLimit: 80_000n, txHash: aHash(4) }));
    expect(await more(unpaid(10n ** 9n))).toBeNull();
  });
});
