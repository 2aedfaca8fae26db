import { beforeEach, describe, expect, it } from '@jest/globals';
import { parseHex } from '../../../src/kernel/hex.js';
import type { SentTransaction } from '../../../src/modules/chain/index.js';
import type { NonceLedger, SlotHolder } from '../../../src/modules/signers/index.js';
import { AdoptSent } from '../../../src/modules/lost-commits/application/adopt-sent.js';
import { Findings } from '../../../src/modules/lost-commits/application/findings.js';
import type { LostCommitsMetrics } from '../../../src/modules/lost-commits/application/lost-commits-metrics.js';
import type { Attempt } from '../../../src/modules/transactions/domain/attempt.js';
import type {
  LostCommitsRepository,
  SignerOutlook,
} from '../../../src/modules/lost-commits/domain/lost-commits.repository.js';
import type { ManagedTx } from '../../../src/modules/transactions/domain/managed-tx.js';
import type { RequestedTx } from '../../../src/modules/transactions/domain/managed-tx.repository.js';
import type { AttemptRepository, ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aHash, aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const CURSOR = 10n;

/** Txs without a nonce, and txs that hold a slot and were never signed. */
let waiting: RequestedTx[];
let allocated: RequestedTx[];
/** Whether a waiting tx was changed while it was looked for. */
let changed: boolean;
let adopted: SlotHolder[];
let attempts: Attempt[];
let saved: ManagedTx[];
let noted: ManagedTx[];
let reconciled: unknown[];
let counted: string[];
let work: UnfencedWork;

beforeEach(() => {
  [waiting, allocated, changed, work] = [[], [], false, new UnfencedWork()];
  [adopted, attempts, saved, noted, reconciled, counted] = [[], [], [], [], [], []];
});

function aTx(txId: string, nonce: bigint | null = null): RequestedTx {
  const tx = aManagedTx({ txId, nonce, state: nonce === null ? 'PENDING' : 'ALLOCATED' }).build();
  return { tx, request: aRequest() };
}

/** With the payload of every tx here, or with another. */
function aSent(nonce: bigint, value = aRequest().payload.value): SentTransaction {
  const { to, data, accessList } = aRequest().payload;
  const fees = { gasLimit: 50_000n, maxFeePerGas: 9n, maxPriorityFeePerGas: 3n };
  return {
    account: SIGNER.address,
    nonce,
    hash: aHash(nonce),
    raw: parseHex('0x02'),
    to,
    value,
    data,
    accessList,
    ...fees,
  };
}
const FOREIGN = 99n;

function adopt(
  sent: readonly SentTransaction[],
  overrides: Partial<SignerOutlook> = {},
  latest = CURSOR,
): Promise<boolean> {
  const outlook: SignerOutlook = {
    signer: SIGNER,
    cursor: CURSOR,
    open: [],
    known: true,
    suspect: false,
    ...overrides,
  };
  const useCase = new AdoptSent(
    work,
    {
      adopt: async (_fence: unknown, slots: readonly SlotHolder[]) => void adopted.push(...slots),
    } as unknown as NonceLedger,
    {
      insert: async (_fence: unknown, all: readonly Attempt[]) => void attempts.push(...all),
    } as unknown as AttemptRepository,
    {
      allocated: async () => allocated,
      lockPending: async (_fence: unknown, ids: readonly string[]) =>
        new Set(changed ? [] : ids.filter((id) => waiting.some(({ tx }) => tx.id === id))),
      save: async (_fence: unknown, txs: readonly ManagedTx[]) => void saved.push(...txs),
      note: async (_fence: unknown, txs: readonly ManagedTx[]) => void noted.push(...txs),
    } as unknown as ManagedTxRepository,
    {
      waitingFor: async () => waiting,
      reconciled: async (_fence: unknown, signers: readonly unknown[]) => void reconciled.push(...signers),
    } as unknown as LostCommitsRepository,
    {
      adopted: (kind: string, count: number) => void counted.push(`${kind} ${count}`),
    } as unknown as LostCommitsMetrics,
    new RecordingLog(),
  );
  return useCase.execute(LEASE, new Findings(outlook, latest, sent, 0n, true, false));
}

const open = (nonce: bigint, txId: string | null): Partial<SignerOutlook> => ({ open: [{ nonce, txId }] });

describe('a transaction that is out', () => {
  it('with the payload of a waiting tx gives it its nonce, its gas and its bytes', async () => {
    waiting = [aTx('a')];
    expect(await adopt([aSent(10n)])).toBe(true);
    expect(adopted).toEqual([{ signer: SIGNER, nonce: 10n, txId: 'a' }]);
    expect(attempts).toEqual([
      {
        signer: SIGNER,
        nonce: 10n,
        txHash: aHash(10n),
        raw: '0x02',
        kind: 'payload',
        txId: 'a',
        gasLimit: 50_000n,
        fees: { maxFeePerGas: 9n, maxPriorityFeePerGas: 3n },
        status: 'SIGNED',
        errorClass: null,
      },
    ]);
    expect(saved).toMatchObject([{ id: 'a', state: 'ALLOCATED', nonce: 10n, progress: { gasLimit: 50_000n } }]);
    expect(reconciled).toEqual([]);
    expect([noted, work.tokens, counted, waiting[0]?.tx.state]).toEqual([
      [],
      [[1n]],
      ['payload 1', 'foreign 0'],
      'PENDING',
    ]);
  });

  it('of a tx that holds the slot already is its attempt, and changes nothing else of it', async () => {
    allocated = [aTx('a', 7n), aTx('b', 8n)];
    await adopt([aSent(7n)], open(7n, 'a'));
    expect(attempts).toMatchObject([{ txId: 'a', nonce: 7n, kind: 'payload' }]);
    expect([adopted, saved, noted.map(({ id }) => id)]).toEqual([[], [], ['a']]);
  });

  it('of nobody here is kept like a fill', async () => {
    expect(await adopt([aSent(10n, FOREIGN)])).toBe(true);
    expect(adopted).toEqual([{ signer: SIGNER, nonce: 10n, txId: null }]);
    expect(attempts).toMatchObject([{ kind: 'fill', txId: null, nonce: 10n }]);
    expect([saved, noted, counted]).toEqual([[], [], ['payload 0', 'foreign 1']]);
  });

  it('of nobody here needs no slot once it is mined', async () => {
    await adopt([aSent(10n, FOREIGN)], {}, 11n);
    await adopt([aSent(11n, FOREIGN)], {}, 11n);
    expect(adopted.map(({ nonce }) => nonce)).toEqual([11n]);
  });

  it('of nobody here competes with a tx that holds the slot: the tx is signed, as ever', async () => {
    allocated = [aTx('a', 10n)];
    expect(await adopt([aSent(10n, FOREIGN)], open(10n, 'a'))).toBe(true);
    expect([adopted, attempts, work.tokens]).toEqual([[], [], []]);
  });

  it('of a signer that nobody acted for before was not sent for a tx of this database', async () => {
    waiting = [aTx('a')];
    await adopt([aSent(10n)], { known: false });
    expect(attempts).toMatchObject([{ kind: 'fill', txId: null }]);
  });
});

describe('nothing is written', () => {
  it('when a waiting tx was changed meanwhile', async () => {
    [waiting, changed] = [[aTx('a')], true];
    expect(await adopt([aSent(10n)], { suspect: true })).toBe(false);
    expect([adopted, attempts, saved, reconciled, counted]).toEqual([[], [], [], [], []]);
  });

  it('when nothing is out, and the database is in its epoch', async () => {
    expect([await adopt([]), work.tokens]).toEqual([true, []]);
  });
});

it('a signer is reconciled in the new epoch with what is written, also when nothing is out', async () => {
  await adopt([]);
  expect(reconciled).toEqual([]);
  await adopt([], { suspect: true });
  expect(reconciled).toEqual([SIGNER]);
});
