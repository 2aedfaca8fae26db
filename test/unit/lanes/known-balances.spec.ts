import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Address, parseAddress } from '../../../src/kernel/hex.js';
import { KnownBalances } from '../../../src/modules/lanes/application/cover-costs.js';
import type { FundsRepository } from '../../../src/modules/ledger/index.js';
import { impatientBalances } from '../../support/refusals.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const SIGNER = { chainId: 1, address: parseAddress(`0x${'aa'.repeat(20)}`) };
const OTHER = { chainId: 1, address: parseAddress(`0x${'bb'.repeat(20)}`) };

/** A chain that counts how often each balance is asked for. */
class Ledger {
  readonly asked: Address[] = [];
  readonly wei = new Map<Address, bigint>();

  async balances(addresses: readonly Address[]): Promise<bigint[]> {
    this.asked.push(...addresses);
    const wei = addresses.map((address) => this.wei.get(address) ?? 0n);
    atReading();
    return wei;
  }
}

let clock: FakeClock;
let ledger: Ledger;
let balances: KnownBalances;
/** Wei that is out and not mined yet. */
let inFlight: bigint;
/** Happens right after each reading: of the chain's balance, and of what is in flight. */
let atReading: () => void;

beforeEach(() => {
  clock = new FakeClock();
  ledger = new Ledger();
  ledger.wei.set(SIGNER.address, 100n);
  const repository: Pick<FundsRepository, 'committedWei'> = {
    committedWei: async (signers) => {
      const wei = signers.map(() => inFlight);
      atReading();
      return wei;
    },
  };
  balances = new KnownBalances(repository as FundsRepository, impatientBalances(clock), clock);
  inFlight = 0n;
  atReading = () => undefined;
});

function refresh(wei: bigint, signer = SIGNER): Promise<void> {
  return balances.refresh(ledger, [{ signer, wei }]);
}

describe('what is known of a balance', () => {
  it('is no more than there is when its answer comes late, and what was in flight then was mined since', async () => {
    inFlight = 60n;
    const late = new Promise<bigint[]>((resolve) => setTimeout(resolve, 20, [100n]));
    await balances.refresh({ balances: () => late }, [{ signer: SIGNER, wei: 1n }]);
    expect(balances.has(SIGNER)).toBe(false);
    inFlight = 0n;
    ledger.wei.set(SIGNER.address, 40n);
    await late;
    await new Promise((resolve) => setImmediate(resolve));
    await refresh(40n);
    expect([balances.covers(SIGNER, 41n), balances.covers(SIGNER, 40n)]).toEqual([false, true]);
    clock.advance(10_001);
    await refresh(40n);
    expect([balances.covers(SIGNER, 41n), balances.covers(SIGNER, 40n)]).toEqual([false, true]);
  });

  it('is less by what is in flight, which the chain has not taken yet', async () => {
    inFlight = 90n;
    await refresh(20n);
    expect(balances.take(SIGNER, 20n)).toBe(false);
    expect([balances.covers(SIGNER, 11n), balances.covers(SIGNER, 10n)]).toEqual([false, true]);
    expect(balances.take(SIGNER, 10n)).toBe(true);
  });

  it('counts what is mined between its two readings as spent, twice rather than never', async () => {
    inFlight = 90n;
    atReading = () => {
      ledger.wei.set(SIGNER.address, 10n);
      inFlight = 0n;
    };
    await refresh(20n);
    expect(balances.take(SIGNER, 20n)).toBe(false);
  });

  it('is nothing before it was read: nothing can be taken', () => {
    expect([balances.take(SIGNER, 0n), balances.covers(SIGNER, 0n)]).toEqual([false, false]);
  });

  it('is read once, and counts down with what is taken', async () => {
    await refresh(40n);
    expect(balances.take(SIGNER, 40n)).toBe(true);
    await refresh(60n);
    expect(balances.take(SIGNER, 60n)).toBe(true);
    expect(ledger.asked).toEqual([SIGNER.address]);
  });

  it('is read again before anybody is told that it is too little: there may have been a top-up', async () => {
    await refresh(80n);
    balances.take(SIGNER, 80n);
    ledger.wei.set(SIGNER.address, 500n);
    await refresh(80n);
    expect(balances.take(SIGNER, 80n)).toBe(true);
  });

  it('is never taken twice: what does not fit stays out, and what fits goes', async () => {
    await refresh(150n);
    expect([balances.take(SIGNER, 90n), balances.take(SIGNER, 60n), balances.take(SIGNER, 10n)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('is read again after a while: somebody else may spend from the account', async () => {
    await refresh(1n);
    clock.advance(10_000);
    ledger.wei.set(SIGNER.address, 0n);
    await refresh(1n);
    expect(ledger.asked).toHaveLength(1);
    clock.advance(1);
    await refresh(1n);
    expect(balances.take(SIGNER, 1n)).toBe(false);
  });

  it('is unknown when nobody tells it in time, also when it was known before, and the others do not wait', async () => {
    await refresh(1n);
    await refresh(1n, OTHER);
    clock.advance(10_001);
    const tell = ledger.balances.bind(ledger);
    ledger.balances = (addresses) =>
      addresses.includes(OTHER.address) ? new Promise(() => undefined) : tell(addresses);
    await balances.refresh(
      ledger,
      [SIGNER, OTHER].map((signer) => ({ signer, wei: 1n })),
    );
    expect([SIGNER, OTHER].map((signer) => balances.has(signer))).toEqual([true, false]);
    expect(balances.take(SIGNER, 100n)).toBe(true);
  });

  it('of one signer says nothing about another', async () => {
    await refresh(1n);
    await refresh(1n, OTHER);
    expect(balances.take(OTHER, 1n)).toBe(false);
    expect(balances.take(SIGNER, 1n)).toBe(true);
  });
});
