import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { AttemptDraft } from '../../../src/modules/sending/application/attempt-signer.js';
import { SignNoOps } from '../../../src/modules/sending/application/sign-no-ops.js';
import type { FeeRules } from '../../../src/modules/sending/application/fee-rules.js';
import type { Attempt, AttemptFees } from '../../../src/modules/transactions/domain/attempt.js';
import type { ManagedTx } from '../../../src/modules/transactions/domain/managed-tx.js';
import type { AttemptRepository, ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aHash, aManagedTx, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const PRICE: AttemptFees = { maxFeePerGas: 900n, maxPriorityFeePerGas: 90n };

/** The price that each no-op was asked to outbid. */
let outbid: (AttemptFees | null)[];
let stored: Attempt[];
let saved: ManagedTx[];
/** Null while the caps of the chain do not allow what it takes. */
let price: AttemptFees | null;
let close: SignNoOps;

beforeEach(() => {
  [outbid, stored, saved, price] = [[], [], [], PRICE];
  const signer = {
    sign: async (drafts: readonly AttemptDraft[]) => drafts.map((draft) => anAttempt({ ...draft, txHash: aHash(9) })),
  };
  close = new SignNoOps(
    signer,
    {
      noOp: (_chain: number, _quote: unknown, rival: AttemptFees | null) => (outbid.push(rival), price),
    } as unknown as FeeRules,
    new UnfencedWork(),
    {
      insert: async (_fence: unknown, attempts: readonly Attempt[]) => void stored.push(...attempts),
    } as unknown as AttemptRepository,
    {
      save: async (_fence: unknown, txs: readonly ManagedTx[]) => void saved.push(...txs),
    } as unknown as ManagedTxRepository,
    new RecordingLog(),
  );
});

function closeAgainst(...rivals: readonly Pick<Attempt, 'fees' | 'status'>[]): ReturnType<SignNoOps['execute']> {
  const tx = aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n, failureReason: 'refused' }).build();
  const chain = {
    chainId: DEV_CHAIN,
    feeQuote: async () => null,
    estimateGas: async () => [{ kind: 'ok', gas: 22_000n }],
  } as unknown as ChainConnector;
  return close.execute(chain, [LEASE], [{ tx, rivals: rivals.map((rival) => anAttempt(rival)) }]);
}

const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): AttemptFees => ({
  maxFeePerGas,
  maxPriorityFeePerGas,
});

describe('the no-op that closes a slot', () => {
  it('outbids the highest of both prices of all that may be out, also when what was signed last is cheaper', async () => {
    await closeAgainst(
      { fees: fees(500n, 20n), status: 'UNKNOWN' },
      { fees: fees(300n, 50n), status: 'ACCEPTED' },
      { fees: fees(400n, 10n), status: 'SIGNED' },
    );
    expect(outbid).toEqual([fees(500n, 50n)]);
  });

  it('does not outbid what every node refused, for that is in no pool', async () => {
    await closeAgainst({ fees: fees(500n, 20n), status: 'UNKNOWN' }, { fees: fees(800n, 80n), status: 'REJECTED' });
    expect(outbid).toEqual([fees(500n, 20n)]);
  });

  it('has the nonce, the name of the tx, its price and its gas, and is stored before it is given away', async () => {
    const sendings = await closeAgainst({ fees: fees(500n, 20n), status: 'UNKNOWN' });
    expect(stored).toMatchObject([{ nonce: 7n, kind: 'cancel', to: SIGNER.address, gasLimit: 22_000n, fees: PRICE }]);
    expect(stored.map(({ txId }) => txId)).toEqual(sendings.map(({ tx }) => tx?.id));
    expect(sendings).toMatchObject([{ attempt: { txHash: aHash(9) } }]);
  });

  it('is the hash that the tx has from now on', async () => {
    const [sending] = await closeAgainst({ fees: fees(500n, 20n), status: 'UNKNOWN' });
    expect(saved).toEqual([sending?.tx]);
    expect(sending?.tx?.progress.txHash).toBe(aHash(9));
  });

  it('waits while its price is above the caps of the chain', async () => {
    price = null;
    expect([await closeAgainst({ fees: fees(500n, 20n), status: 'UNKNOWN' }), stored]).toEqual([[], []]);
  });
});
