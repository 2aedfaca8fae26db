import { beforeEach, describe, expect, it } from '@jest/globals';
import { sameSigner, type SignerId } from '../../../src/kernel/signer-id.js';
import type { EventLog, SignerEvent } from '../../../src/modules/events/index.js';
import { ReportLowBalances } from '../../../src/modules/lanes/application/report-low-balances.js';
import type { FundsRepository } from '../../../src/modules/transactions/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { heldWork, someFunds } from './funds-fixture.js';

const [A, B, C] = [aSigner(1), aSigner(2), aSigner(3)];

let told: SignerEvent[];
let log: RecordingLog;
/** Marked by another node meanwhile. */
let known: SignerId[];
let report: ReportLowBalances;

beforeEach(() => {
  [told, log, known] = [[], new RecordingLog(), []];
  const markLow = async (_fence: unknown, signers: readonly SignerId[]) =>
    signers.filter((signer) => !known.some((other) => sameSigner(other, signer)));
  const appendOfSigners = async (_tx: unknown, _author: unknown, events: readonly SignerEvent[]) =>
    void told.push(...events);
  const writes = new RecordedWrites();
  const door = {
    underFence: (leases: never, operation: string, changes: (fence: object) => Promise<object>) =>
      writes.underFence(leases, operation, () => changes({ tx: null })),
  };
  report = new ReportLowBalances(
    heldWork,
    { markLow } as unknown as FundsRepository,
    { appendOfSigners } as unknown as EventLog,
    door as never,
    log,
  );
});

describe('a balance that changed', () => {
  it('has an event and a warning with its amounts, when it is low and when it is enough again', async () => {
    await report.execute(DEV_CHAIN, [
      someFunds({ signer: A, isLow: true, missing: 5n }),
      someFunds({ signer: B, isLow: false }),
    ]);
    const detail = { balance: '100', inFlight: '30', queued: '20', missing: '5' };
    expect(told).toEqual([
      { signer: A, reason: 'balance_low', detail },
      { signer: B, reason: 'balance_restored', detail: { ...detail, missing: '0' } },
    ]);
    expect(log.lines.map(({ event }) => event)).toEqual([
      'balance of a signer is low',
      'balance of a signer is enough again',
    ]);
  });

  it('is told once, whoever told it', async () => {
    known = [A];
    await report.execute(
      DEV_CHAIN,
      [A, C].map((signer) => someFunds({ signer, isLow: true })),
    );
    expect(told.map(({ signer }) => signer)).toEqual([C]);
    expect(log.lines).toHaveLength(1);
  });
});
