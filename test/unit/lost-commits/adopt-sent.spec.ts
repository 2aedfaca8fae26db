import { beforeEach, describe, expect, it } from '@jest/globals';
import { parseHex } from '../../../src/kernel/hex.js';
import type { SentTransaction } from '../../../src/modules/chain/index.js';
import type { NonceLedger, SlotHolder } from '../../../src/modules/signers/index.js';
import type { Attempt } from '../../../src/modules/transactions/domain/attempt.js';
import type { AttemptRepository } from '../../../src/modules/transactions/domain/attempt.repository.js';
import type {
  LostCommitsRepository,
  SignerOutlook,
} from '../../../src/modules/lost-commits/domain/lost-commits.repository.js';
import type { ManagedTxRepository } from '../../../src/modules/transactions/domain/managed-tx.repository.js';
import { AdoptSent } from '../../../src/modules/lost-commits/application/adopt-sent.js';
import { Findings } from '../../../src/modules/lost-commits/application/findings.js';
import type { LostCommitsMetrics } from '../../../src/modules/lost-commits/application/lost-commits-metrics.js';
import { aHash, aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const { payload } = aRequest();

/** Carries the payload of the tx that waits, or is somebody else's. */
function aSent(nonce: bigint, isOurs: boolean): SentTransaction {
  const { to, data, accessList } = payload;
  const fees = { gasLimit: 21_000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
  const sent = { account: SIGNER.address, nonce, hash: aHash(nonce), raw: parseHex('0x'), to, data, accessList };
  return { ...sent, ...fees, value: isOurs ? payload.value : 99n };
}

let adopted: SlotHolder[];
let attempts: Attempt[];

beforeEach(() => {
  [adopted, attempts] = [[], []];
});

/** @param latest the chain's next nonce; the cursor is 10 */
async function adopt(sent: readonly SentTransaction[], latest = 10n): Promise<void> {
  const waiting = [{ tx: aManagedTx({ txId: 'waiting' }).build(), request: aRequest() }];
  const nothing = async (): Promise<void> => undefined;
  const outlook: SignerOutlook = { signer: SIGNER, cursor: 10n, open: [], known: true, suspect: false };
  await new AdoptSent(
    new UnfencedWork(),
    {
      adopt: async (_: unknown, slots: readonly SlotHolder[]) => void adopted.push(...slots),
    } as unknown as NonceLedger,
    {
      insert: async (_: unknown, some: readonly Attempt[]) => void attempts.push(...some),
    } as unknown as AttemptRepository,
    {
      lockPending: async (_: unknown, ids: readonly string[]) => new Set(ids),
      save: nothing,
      note: nothing,
    } as unknown as ManagedTxRepository,
    { waitingFor: async () => waiting } as unknown as LostCommitsRepository,
    { adopted: () => undefined } as unknown as LostCommitsMetrics,
    new RecordingLog(),
  ).execute(LEASE, new Findings(outlook, latest, sent, 0n, true, false));
}

/** By nonce: the tx that holds the slot, or null for a fill. */
const slots = (): [bigint, string | null][] =>
  adopted.map(({ nonce, txId }): [bigint, string | null] => [nonce, txId]).sort(([a], [b]) => Number(a - b));

describe('what was out and is adopted', () => {
  it('has its slot, and each nonce below it that nobody has is a fill, from the cursor on', async () => {
    await adopt([aSent(12n, true), aSent(14n, false)]);
    expect(slots()).toEqual([
      [10n, null],
      [11n, null],
      [12n, 'waiting'],
      [13n, null],
      [14n, null],
    ]);
    expect(attempts.map(({ nonce, txId, kind }) => [nonce, txId, kind])).toEqual([
      [12n, 'waiting', 'payload'],
      [14n, null, 'fill'],
    ]);
  });

  it('has fills below it from the next nonce of the chain on, when that is above the cursor', async () => {
    await adopt([aSent(13n, true)], 12n);
    expect(slots()).toEqual([
      [12n, null],
      [13n, 'waiting'],
    ]);
  });

  it('is adopted however far the chain is above the cursor', async () => {
    await adopt([aSent(101n, true)], 100n);
    expect(slots()).toEqual([
      [100n, null],
      [101n, 'waiting'],
    ]);
  });

  it('has a gap counted from the one below it, not from the cursor', async () => {
    await adopt([aSent(60n, true), aSent(120n, false)]);
    expect(adopted).toHaveLength(111);
  });

  it.each([
    ['filled when it has 64 nonces', 74n, 65],
    ['left open when it is wider, and what is behind it is not adopted', 75n, 0],
  ])('has a gap below it that is %s', async (_words, nonce, count) => {
    await adopt([aSent(nonce, true)]);
    expect(adopted).toHaveLength(count);
  });
});
