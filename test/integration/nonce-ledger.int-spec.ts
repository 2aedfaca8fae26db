import { describe, expect, it } from '@jest/globals';
import { InvariantViolation } from '../../src/kernel/errors.js';
import { signerKey, type SignerId } from '../../src/kernel/signer-id.js';
import type { Fence } from '../../src/modules/signers/domain/fence.js';
import type { Lease } from '../../src/modules/signers/domain/lease.js';
import type { SequenceState, SlotRef } from '../../src/modules/signers/index.js';
import { PgNonceLedger } from '../../src/modules/signers/infrastructure/pg-nonce-ledger.js';
import { anAddress, aHash, aSigner, DEV_CHAIN } from '../support/builders.js';
import { EmptyDatabase } from '../support/empty-application.js';
import { KeysOf } from '../support/fakes/fake-node.js';
import { ledgerLab, MINED_HASH, txIdOf } from '../support/ledger-lab.js';

const lab = await ledgerLab();
const { ledger } = lab;

/** The same address on another chain: another signer, although its address and its nonces are the same. */
const twinOf = (signer: SignerId): SignerId => ({ ...signer, chainId: signer.chainId + 1 });
const slotsAt = (signer: SignerId, ...nonces: readonly bigint[]): SlotRef[] =>
  nonces.map((nonce) => ({ signer, nonce }));
const stateAt = (signer: SignerId, cursor: bigint): SequenceState => ({ signer, cursor, released: [], outside: [] });

describe('align', () => {
  const align = (leases: readonly Lease[], ...nonces: readonly bigint[]): Promise<void> =>
    lab.write(leases, (fence) =>
      ledger.align(
        fence,
        leases.map(({ signer }, n) => ({ signer, nonce: nonces[n] ?? 0n })),
      ),
    );

  it('makes the cursor of a signer that has none, where the chain is, under the token of the lease', async () => {
    const lease = await lab.lease();
    await align([lease], 7n);
    expect(await lab.cursor(lease.signer)).toEqual({ next: 7n, token: 3n, isSynced: true });
  });

  it('raises a cursor that is behind the chain, and leaves one that is ahead; both are synced then', async () => {
    const [behind, ahead] = [await lab.lease(), await lab.lease()];
    await lab.leaveCursor(behind.signer, 5n);
    await lab.leaveCursor(ahead.signer, 12n);
    await align([behind, ahead], 9n, 9n);
    expect(await lab.cursor(behind.signer)).toEqual({ next: 9n, token: 3n, isSynced: true });
    expect(await lab.cursor(ahead.signer)).toEqual({ next: 12n, token: 3n, isSynced: true });
  });

  it('forgets the free slots below the chain, and no other slot', async () => {
    const [lease, other] = [await lab.lease(), await lab.lease()];
    await lab.leave(lease.signer, 'RELEASED', 3n, 4n, 5n, 6n);
    await lab.leave(lease.signer, 'CONSUMED', 1n);
    await lab.leave(lease.signer, 'HELD', 2n);
    await lab.leave(other.signer, 'RELEASED', 3n);
    await lab.leave(twinOf(lease.signer), 'RELEASED', 3n);
    await align([lease, other], 5n, 3n);
    expect(await lab.statuses(lease.signer)).toEqual(['1 CONSUMED', '2 HELD', '5 RELEASED', '6 RELEASED']);
    expect(await lab.statuses(other.signer)).toEqual(['3 RELEASED']);
    expect(await lab.statuses(twinOf(lease.signer))).toEqual(['3 RELEASED']);
  });
});

describe('cursors', () => {
  it('are those of the signers asked for that have one, each on its own chain', async () => {
    const [known, unknown, unasked] = lab.lab.freshSigners(3);
    if (!known || !unknown || !unasked) throw new Error('three were made');
    await lab.leaveCursor(known, 4n);
    await lab.leaveCursor(twinOf(known), 9n);
    await lab.leaveCursor(twinOf(unknown), 8n);
    await lab.leaveCursor(unasked, 1n);
    expect([...(await ledger.cursors([known, unknown]))]).toEqual([[`${DEV_CHAIN}:${known.address}`, 4n]]);
  });
});

describe('read', () => {
  it('answers the cursor and the lowest free slots, as many as asked for, and none that is in use', async () => {
    const [lease, other] = [await lab.lease(), await lab.lease()];
    await lab.leaveCursor(lease.signer, 20n);
    await lab.leaveCursor(other.signer, 30n);
    await lab.leave(lease.signer, 'RELEASED', 11n, 2n, 9n, 4n);
    await lab.leave(lease.signer, 'HELD', 1n);
    await lab.leave(lease.signer, 'CONSUMED', 0n);
    await lab.leave(twinOf(lease.signer), 'RELEASED', 3n);
    await lab.leave(other.signer, 'RELEASED', 5n);
    const states = await lab.write([lease, other], (fence) => ledger.read(fence, [lease.signer, other.signer], 3));
    expect(states).toEqual([
      { signer: lease.signer, cursor: 20n, released: [2n, 4n, 9n], outside: [] },
      { signer: other.signer, cursor: 30n, released: [5n], outside: [] },
    ]);
  });

  it('answers those that outside senders had apart, for good', async () => {
    const lease = await lab.lease();
    await lab.leaveCursor(lease.signer, 5n);
    await lab.write([lease], async (fence) => {
      const slots = [1n, 2n].map((nonce) => ({ signer: lease.signer, nonce, txId: txIdOf(Number(nonce)) }));
      const [first, second] = slots;
      if (!first || !second) throw new Error('two were made');
      await ledger.hold(fence, [{ ...first, isOutside: true }, second], [{ from: stateAt(lease.signer, 5n), to: 6n }]);
      await ledger.release(fence, slots);
      await ledger.hold(fence, slots, [{ from: stateAt(lease.signer, 6n), to: 7n }]);
      await ledger.release(fence, slots);
    });
    const states = await lab.write([lease], (fence) => ledger.read(fence, [lease.signer], 3));
    expect(states).toEqual([{ signer: lease.signer, cursor: 7n, released: [2n], outside: [1n] }]);
  });

  it('answers none that another nonce of the signer waits for: a gap never goes to an outside sender again', async () => {
    const [lease, other] = [await lab.lease(), await lab.lease()];
    for (const { signer } of [lease, other]) {
      await lab.leaveCursor(signer, 9n);
      await lab.leaveOutside(signer, 3n, 6n);
    }
    await lab.leave(lease.signer, 'HELD', 5n);
    await lab.leave(lease.signer, 'CONSUMED', 8n);
    const states = await lab.write([lease, other], (fence) => ledger.read(fence, [lease.signer, other.signer], 3));
    expect(states.map(({ outside }) => outside)).toEqual([[6n], [3n, 6n]]);
    expect(await ledger.gaps([lease.signer, other.signer])).toEqual(slotsAt(lease.signer, 3n));
    await lab.leave(other.signer, 'RELEASED', 4n);
    expect(await ledger.gaps([other.signer], true)).toEqual(slotsAt(other.signer, 3n, 6n));
  });

  it('answers all of a signer whose key no node has together, the lowest first, also what others wait for', async () => {
    const [lease, other] = [await lab.lease(), await lab.lease()];
    for (const { signer } of [lease, other]) {
      await lab.leaveCursor(signer, 9n);
      await lab.leave(signer, 'RELEASED', 4n);
      await lab.leave(signer, 'HELD', 8n);
      await lab.leaveOutside(signer, 10n, 6n, 3n);
    }
    for (const signer of [lease.signer, twinOf(other.signer)]) lab.external.add(signerKey(signer));
    const states = await lab.write([lease, other], (fence) => ledger.read(fence, [lease.signer, other.signer], 4));
    expect(states.map(({ released, outside }) => [released, outside])).toEqual([
      [[3n, 4n, 6n, 10n], []],
      [[4n], [10n]],
    ]);
  });

  it('answers nothing of a signer that was never aligned', async () => {
    const lease = await lab.lease();
    await lab.leaveCursor(twinOf(lease.signer), 3n);
    expect(await lab.write([lease], (fence) => ledger.read(fence, [lease.signer], 3))).toEqual([]);
  });
});

describe('hold', () => {
  const held = (nonce: bigint, txId: string | null): object => ({
    nonce,
    status: 'HELD',
    txId,
    txHash: null,
    token: 3n,
  });

  it('opens new slots, takes free ones, and moves the cursor', async () => {
    const lease = await lab.lease();
    const { signer } = lease;
    await lab.leaveCursor(signer, 6n);
    await lab.leaveCursor(twinOf(signer), 6n);
    await lab.leave(signer, 'RELEASED', 4n);
    await lab.write([lease], (fence) =>
      ledger.hold(
        fence,
        [
          { signer, nonce: 4n, txId: txIdOf(1) },
          { signer, nonce: 6n, txId: txIdOf(2) },
          { signer, nonce: 7n, txId: txIdOf(3) },
        ],
        [{ from: stateAt(signer, 6n), to: 8n }],
      ),
    );
    expect(await lab.slots(signer)).toEqual([held(4n, txIdOf(1)), held(6n, txIdOf(2)), held(7n, txIdOf(3))]);
    // Nobody has asked the chain.
    expect(await lab.cursor(signer)).toEqual({ next: 8n, token: 3n, isSynced: false });
    expect(await lab.cursor(twinOf(signer))).toMatchObject({ next: 6n });
  });

  it.each(['HELD', 'CONSUMED'] as const)('gives nobody a nonce that is %s, and writes nothing then', async (status) => {
    const lease = await lab.lease();
    const { signer } = lease;
    await lab.leaveCursor(signer, 6n);
    await lab.leave(signer, status, 4n);
    const before = await lab.slots(signer);
    const hold = lab.write([lease], (fence) =>
      ledger.hold(
        fence,
        [
          { signer, nonce: 6n, txId: txIdOf(0x11) },
          { signer, nonce: 4n, txId: txIdOf(0x12) },
        ],
        [{ from: stateAt(signer, 6n), to: 7n }],
      ),
    );
    await expect(hold).rejects.toThrow(InvariantViolation);
    expect(await lab.slots(signer)).toEqual(before);
    expect(await lab.cursor(signer)).toMatchObject({ next: 6n });
  });

  it.each([
    ['was moved since it was read', 7n],
    ['is lower than what was read', 5n],
    ['is not there', null],
  ])('writes nothing when the cursor %s', async (_, next) => {
    const lease = await lab.lease();
    const { signer } = lease;
    if (next !== null) await lab.leaveCursor(signer, next);
    const slot = { signer, nonce: 6n, txId: txIdOf(0x301) };
    const hold = lab.write([lease], (fence) => ledger.hold(fence, [slot], [{ from: stateAt(signer, 6n), to: 7n }]));
    await expect(hold).rejects.toThrow(InvariantViolation);
    expect(await lab.slots(signer)).toEqual([]);
    expect((await lab.cursor(signer))?.next ?? null).toBe(next);
  });
});

describe('adopt', () => {
  const adopt = (lease: Lease, ...nonces: readonly bigint[]): Promise<void> =>
    lab.write([lease], (fence) =>
      ledger.adopt(
        fence,
        slotsAt(lease.signer, ...nonces).map((slot) => ({ ...slot, txId: txIdOf(0x100n + slot.nonce) })),
      ),
    );

  it('opens new slots and takes free ones, and makes a cursor above the highest', async () => {
    const lease = await lab.lease();
    await lab.leave(lease.signer, 'RELEASED', 4n);
    await adopt(lease, 9n, 4n);
    expect(await lab.slots(lease.signer)).toEqual(
      [4n, 9n].map((nonce) => ({ nonce, status: 'HELD', txId: txIdOf(0x100n + nonce), txHash: null, token: 3n })),
    );
    expect(await lab.cursor(lease.signer)).toMatchObject({ next: 10n, token: 3n });
  });

  it('raises a cursor that is not above them, leaves one that is, and syncs neither', async () => {
    const [low, high] = [await lab.lease(), await lab.lease()];
    await lab.leaveCursor(low.signer, 20n);
    await lab.leaveCursor(high.signer, 22n);
    for (const [n, lease] of [low, high].entries())
      await lab.write([lease], (fence) =>
        ledger.adopt(fence, [{ signer: lease.signer, nonce: 20n, txId: txIdOf(0x310 + n) }]),
      );
    expect(await lab.cursor(low.signer)).toEqual({ next: 21n, token: 3n, isSynced: false });
    expect(await lab.cursor(high.signer)).toEqual({ next: 22n, token: 3n, isSynced: false });
  });

  it.each(['HELD', 'CONSUMED'] as const)('takes no slot that is %s, and writes nothing then', async (status) => {
    const lease = await lab.lease();
    await lab.leave(lease.signer, status, 35n);
    const before = await lab.slots(lease.signer);
    await expect(adopt(lease, 34n, 35n)).rejects.toThrow(InvariantViolation);
    expect(await lab.slots(lease.signer)).toEqual(before);
    expect(await lab.cursor(lease.signer)).toBeNull();
  });
});

describe('nonces that nobody has a slot for', () => {
  /** Slots 8 and 12; the chain is elsewhere. */
  async function withGaps(): Promise<Lease> {
    const lease = await lab.lease();
    await lab.leave(lease.signer, 'CONSUMED', 2n);
    await lab.leave(lease.signer, 'HELD', 8n, 12n);
    await lab.leave(twinOf(lease.signer), 'HELD', 6n);
    return lease;
  }

  it.each([
    ['up to the lowest slot above the chain', 5n, 3],
    ['none where the chain is at a slot', 8n, null],
    ['up to the next slot where the chain is past the first', 9n, 3],
    ['none where no slot is above the chain', 13n, null],
    ['none where there are slots below the chain only', 20n, null],
  ])('are counted %s', async (_, nonce, count) => {
    const { signer } = await withGaps();
    expect(await ledger.missing([{ signer, nonce }])).toEqual(count === null ? [] : [{ signer, nonce, count }]);
  });

  it('are freed from the chain up to our lowest slot, under the token of the lease', async () => {
    const lease = await withGaps();
    const { signer } = lease;
    const freed = await lab.write([lease], (fence) => ledger.freeMissing(fence, slotsAt(signer, 5n), 10));
    expect(freed).toEqual(slotsAt(signer, 5n, 6n, 7n));
    expect(await lab.statuses(signer)).toEqual([
      '2 CONSUMED',
      '5 RELEASED',
      '6 RELEASED',
      '7 RELEASED',
      '8 HELD',
      '12 HELD',
    ]);
    expect((await lab.slots(signer))[1]).toMatchObject({ token: 3n, txId: null });
    expect(await lab.slots(twinOf(signer))).toHaveLength(1);
  });

  it('are freed from the top when there are more than may be freed', async () => {
    const lease = await withGaps();
    const freed = await lab.write([lease], (fence) => ledger.freeMissing(fence, slotsAt(lease.signer, 3n), 2));
    expect(freed).toEqual(slotsAt(lease.signer, 6n, 7n));
  });

  it.each([8n, 13n])('are none to free at nonce %s', async (nonce) => {
    const lease = await withGaps();
    const before = await lab.slots(lease.signer);
    expect(
      await lab.write([lease], (fence) => ledger.freeMissing(fence, [{ signer: lease.signer, nonce }], 10)),
    ).toEqual([]);
    expect(await lab.slots(lease.signer)).toEqual(before);
  });
});

it('new slots that no tx holds are free, under the token of the lease, and an existing slot is never freed with them', async () => {
  const lease = await lab.lease();
  const { signer } = lease;
  await lab.write([lease], (fence) => ledger.openFree(fence, slotsAt(signer, 5n)));
  expect(await lab.slots(signer)).toMatchObject([{ nonce: 5n, status: 'RELEASED', txId: null, token: 3n }]);
  await lab.leave(signer, 'HELD', 6n);
  await expect(lab.write([lease], (fence) => ledger.openFree(fence, slotsAt(signer, 6n)))).rejects.toThrow('duplicate');
});

it('what is free where no node has the key is for no payload when the key comes', async () => {
  const leases = [await lab.lease(), await lab.lease()];
  const at = (nonce: bigint): SlotRef[] => leases.map(({ signer }) => ({ signer, nonce }));
  for (const { signer } of at(4n)) {
    await lab.leaveCursor(signer, 9n);
    await lab.leave(signer, 'HELD', 4n);
  }
  const key = leases
    .slice(0, 1)
    .map(({ signer }) => signerKey(signer))
    .join();
  lab.external.add(key);
  await lab.write(leases, async (fence) => {
    await ledger.freeMissing(fence, at(3n), 5);
    await ledger.release(fence, at(4n));
    await ledger.openFree(fence, at(5n));
  });
  lab.external.delete(key);
  const states = await lab.write(leases, (fence) =>
    ledger.read(
      fence,
      leases.map(({ signer }) => signer),
      9,
    ),
  );
  expect(states.map(({ released, outside }) => [released, outside])).toEqual([
    [[], [3n, 4n, 5n]],
    [[3n, 4n, 5n], []],
  ]);
});

describe('nonce gaps', () => {
  it('are the free slots below a held one, lowest first, and none above the highest', async () => {
    const [lease, other] = [await lab.lease(), await lab.lease()];
    await lab.leave(lease.signer, 'CONSUMED', 1n, 9n);
    await lab.leave(lease.signer, 'RELEASED', 6n, 4n, 2n);
    await lab.leave(lease.signer, 'HELD', 3n, 5n);
    await lab.leave(other.signer, 'RELEASED', 2n);
    await lab.leave(twinOf(lease.signer), 'RELEASED', 2n);
    await lab.leave(twinOf(lease.signer), 'HELD', 8n);
    await lab.leave(twinOf(other.signer), 'HELD', 8n);
    // A consumed slot above waits for nothing.
    await lab.leave(other.signer, 'CONSUMED', 4n);
    expect(await ledger.gaps([lease.signer, other.signer])).toEqual(slotsAt(lease.signer, 2n, 4n));
  });
});

describe('the lowest nonce gap', () => {
  it('is noted when it is another one, with its time, and when there is none any more', async () => {
    const [lease, other] = [await lab.lease(), await lab.lease()];
    const { signer } = lease;
    for (const each of [signer, other.signer]) lab.external.add(signerKey(each));
    for (const each of [signer, other.signer, twinOf(signer)]) await lab.leaveCursor(each, 9n);
    await lab.leave(signer, 'RELEASED', 5n, 3n, 7n);
    await lab.leave(signer, 'CONSUMED', 1n);
    await lab.leave(twinOf(signer), 'CONSUMED', 8n);
    await lab.leave(other.signer, 'RELEASED', 3n);
    await lab.leave(twinOf(other.signer), 'HELD', 4n);
    const both = [signer, other.signer];
    expect(await ledger.movedGaps(both)).toEqual([]);
    await lab.leave(signer, 'HELD', 2n, 6n);
    const seen = { signer, before: null, gap: 3n };
    expect(await ledger.movedGaps(both)).toEqual([seen]);
    const noted = () => lab.write([lease, other], (fence) => ledger.noteGaps(fence, both));
    expect([await noted(), await noted(), await ledger.movedGaps(both)]).toEqual([[seen], [], []]);
    expect([await lab.gap(signer), await lab.gap(other.signer), await lab.gap(twinOf(signer))]).toEqual([
      { gap: 3n, isTimed: true, token: 3n },
      { gap: null, isTimed: false, token: 0n },
      { gap: null, isTimed: false, token: 0n },
    ]);
    await lab.write([lease], (fence) => ledger.hold(fence, [{ signer, nonce: 3n, txId: txIdOf(0x3000) }], []));
    expect(await noted()).toEqual([{ signer, before: 3n, gap: 5n }]);
    await lab.write([lease], (fence) => ledger.hold(fence, [{ signer, nonce: 5n, txId: txIdOf(0x3001) }], []));
    expect(await noted()).toEqual([{ signer, before: 5n, gap: null }]);
    expect(await lab.gap(signer)).toEqual({ gap: null, isTimed: false, token: 3n });
  });

  it('is none below what is in a block, and none where a node has the key, whatever was noted before', async () => {
    const lease = await lab.lease();
    const { signer } = lease;
    const key = signerKey(signer);
    await lab.leaveCursor(signer, 9n);
    await lab.leave(signer, 'RELEASED', 3n);
    await lab.leave(signer, 'HELD', 5n);
    const noted = () => lab.write([lease], (fence) => ledger.noteGaps(fence, [signer]));
    expect([await ledger.movedGaps([signer]), await noted()]).toEqual([[], []]);
    lab.external.add(key);
    await lab.leaveTx(signer, 2n, 'MINED');
    await lab.leaveTx(signer, 5n, 'IN_MEMPOOL');
    await lab.leaveTx(twinOf(signer), 5n, 'MINED');
    expect(await noted()).toEqual([{ signer, before: null, gap: 3n }]);
    lab.external.delete(key);
    const closed = [{ signer, before: 3n, gap: null }];
    expect([await ledger.movedGaps([signer]), await noted()]).toEqual([closed, closed]);
    lab.external.add(key);
    await lab.leave(signer, 'HELD', 6n);
    await lab.leaveTx(signer, 6n, 'MINED');
    expect([await ledger.movedGaps([signer]), await noted()]).toEqual([[], []]);
  });

  it('is closed by a nonce above it that is used for good', async () => {
    const lease = await lab.lease();
    const { signer } = lease;
    lab.external.add(signerKey(signer));
    await lab.leaveCursor(signer, 9n);
    await lab.leave(signer, 'RELEASED', 3n);
    await lab.leave(signer, 'HELD', 5n);
    const noted = () => lab.write([lease], (fence) => ledger.noteGaps(fence, [signer]));
    expect(await noted()).toEqual([{ signer, before: null, gap: 3n }]);
    await lab.leaveWithoutTx(signer, 'CONSUMED', 4n);
    expect(await noted()).toEqual([{ signer, before: 3n, gap: null }]);
  });

  it('is looked for only where no node has the key, and where one is noted', async () => {
    const [signer, external] = [aSigner(1), aSigner(2)];
    const database = new EmptyDatabase();
    const custody = Object.assign(new KeysOf([]), { external: [external] });
    const asking = new PgNonceLedger(database as never, custody);
    await asking.movedGaps([signer]);
    expect(database.statements).toEqual(['nonce_noted_gaps']);
    await asking.movedGaps([signer, external]);
    expect(database.statements.slice(1)).toEqual(['nonce_noted_gaps', 'nonce_moved_gaps']);
  });
});

describe('fill', () => {
  let fills = 0x2000;
  const fill = (lease: Lease, ...nonces: readonly bigint[]): Promise<void> =>
    lab.write([lease], (fence) =>
      ledger.fill(
        fence,
        slotsAt(lease.signer, ...nonces).map((slot) => ({ ...slot, txId: txIdOf(++fills) })),
      ),
    );

  it.each(['RELEASED', 'CONSUMED'] as const)('holds a slot for a fill that is %s and has no tx', async (status) => {
    const lease = await lab.lease();
    await lab.leaveWithoutTx(lease.signer, status, 2n, 3n);
    await lab.leaveWithoutTx(twinOf(lease.signer), status, 2n);
    await fill(lease, 2n);
    expect((await lab.slots(lease.signer))[0]).toEqual({
      nonce: 2n,
      status: 'HELD',
      txId: txIdOf(fills),
      txHash: null,
      token: 3n,
    });
    expect(await lab.statuses(lease.signer)).toEqual(['2 HELD', `3 ${status}`]);
    expect(await lab.statuses(twinOf(lease.signer))).toEqual([`2 ${status}`]);
    expect((await lab.slots(twinOf(lease.signer)))[0]).toMatchObject({ txId: null });
  });

  it('takes no slot that a tx holds, or that is not there, and writes nothing then', async () => {
    const lease = await lab.lease();
    await lab.leave(lease.signer, 'HELD', 2n);
    await lab.leave(lease.signer, 'RELEASED', 3n);
    const before = await lab.slots(lease.signer);
    await expect(fill(lease, 2n, 3n)).rejects.toThrow(InvariantViolation);
    await expect(fill(lease, 3n, 4n)).rejects.toThrow(InvariantViolation);
    expect(await lab.slots(lease.signer)).toEqual(before);
  });
});

describe('forget', () => {
  it('deletes held slots, and their nonces are not given out again', async () => {
    const lease = await lab.lease();
    await lab.leaveCursor(lease.signer, 9n);
    await lab.leave(lease.signer, 'HELD', 3n);
    await lab.leave(lease.signer, 'HELD', 4n);
    await lab.write([lease], (fence) => ledger.forget(fence, slotsAt(lease.signer, 3n)));
    expect((await lab.slots(lease.signer)).map(({ nonce }) => nonce)).toEqual([4n]);
    expect(await lab.cursor(lease.signer)).toMatchObject({ next: 9n });
  });

  it.each(['RELEASED', 'CONSUMED'] as const)('deletes no slot that is %s', async (status) => {
    const lease = await lab.lease();
    await lab.leave(lease.signer, status, 3n);
    const forget = lab.write([lease], (fence) => ledger.forget(fence, slotsAt(lease.signer, 3n)));
    await expect(forget).rejects.toThrow(InvariantViolation);
    expect(await lab.slots(lease.signer)).toHaveLength(1);
  });
});

const HASH = aHash(0xabcdef);

/** What moves slots that are there already: each from one status only. */
const MOVES = [
  {
    move: 'release',
    from: 'HELD',
    act: (fence: Fence, slots: readonly SlotRef[]) => ledger.release(fence, slots),
    becomes: { status: 'RELEASED', txHash: null },
    keepsHolder: false,
  },
  {
    move: 'consume by a transaction of ours',
    from: 'HELD',
    act: (fence: Fence, slots: readonly SlotRef[]) =>
      ledger.consume(
        fence,
        slots.map((slot) => ({ ...slot, txHash: HASH })),
      ),
    becomes: { status: 'CONSUMED', txHash: HASH },
    keepsHolder: true,
  },
  {
    move: 'consume by a transaction of somebody else',
    from: 'HELD',
    act: (fence: Fence, slots: readonly SlotRef[]) =>
      ledger.consume(
        fence,
        slots.map((slot) => ({ ...slot, txHash: null })),
      ),
    becomes: { status: 'CONSUMED', txHash: null },
    keepsHolder: false,
  },
  {
    move: 'reopen',
    from: 'CONSUMED',
    act: (fence: Fence, slots: readonly SlotRef[]) => ledger.reopen(fence, slots),
    becomes: { status: 'HELD', txHash: null },
    keepsHolder: true,
  },
] as const;

describe.each(MOVES)('$move', ({ from, act, becomes, keepsHolder }) => {
  it(`moves slots that are ${from}, those that were named and no others, under the token of the lease`, async () => {
    const [lease, other] = [await lab.lease(), await lab.lease()];
    const { signer } = lease;
    for (const each of [signer, other.signer, twinOf(signer)]) await lab.leave(each, from, 4n, 5n, 6n);
    const [four, five, six] = await lab.slots(signer);
    const neighbours = [other.signer, twinOf(signer)];
    const before = await Promise.all(neighbours.map((each) => lab.slots(each)));

    await lab.write([lease, other], (fence) => act(fence, slotsAt(signer, 6n, 4n)));

    const moved = (slot: typeof four): object => ({
      ...slot,
      ...becomes,
      token: 3n,
      txId: keepsHolder ? (slot?.txId ?? null) : null,
    });
    expect(await lab.slots(signer)).toEqual([moved(four), five, moved(six)]);
    expect(await Promise.all(neighbours.map((each) => lab.slots(each)))).toEqual(before);
  });

  const others = (['HELD', 'CONSUMED', 'RELEASED', null] as const).filter((status) => status !== from);
  it.each(others)('meets a slot that is %s as a bug, and moves none of the others with it', async (status) => {
    const lease = await lab.lease();
    const { signer } = lease;
    await lab.leave(signer, from, 4n);
    if (status !== null) await lab.leave(signer, status, 5n);
    // Of the right status, and somebody else's.
    await lab.leave(twinOf(signer), from, 5n);
    const before = await lab.slots(signer);
    await expect(lab.write([lease], (fence) => act(fence, slotsAt(signer, 4n, 5n)))).rejects.toThrow(
      InvariantViolation,
    );
    expect(await lab.slots(signer)).toEqual(before);
  });

  it('twice is a bug, and changes nothing the second time', async () => {
    const lease = await lab.lease();
    await lab.leave(lease.signer, from, 4n);
    const once = (): Promise<void> => lab.write([lease], (fence) => act(fence, slotsAt(lease.signer, 4n)));
    await once();
    const after = await lab.slots(lease.signer);
    await expect(once()).rejects.toThrow(InvariantViolation);
    expect(await lab.slots(lease.signer)).toEqual(after);
  });
});

describe('hand over', () => {
  const handOver = (lease: Lease) =>
    lab.write([lease], (fence) => ledger.handOver(fence, [{ signer: lease.signer, nonce: 4n, txId: txIdOf(0xf1) }]));

  it('gives a held slot to another tx, under the token of the lease', async () => {
    const lease = await lab.lease();
    await lab.leave(lease.signer, 'HELD', 4n, 5n);
    const [four, five] = await lab.slots(lease.signer);
    await handOver(lease);
    expect(await lab.slots(lease.signer)).toEqual([{ ...four, txId: txIdOf(0xf1), token: 3n }, five]);
  });

  it.each(['CONSUMED', 'RELEASED'] as const)('meets one that is %s as a bug', async (status) => {
    const lease = await lab.lease();
    await lab.leave(lease.signer, status, 4n);
    const before = await lab.slots(lease.signer);
    await expect(handOver(lease)).rejects.toThrow(InvariantViolation);
    expect(await lab.slots(lease.signer)).toEqual(before);
  });
});

describe('every write', () => {
  const WRITES: Record<string, (fence: Fence, signer: SignerId) => Promise<unknown>> = {
    align: (fence, signer) => ledger.align(fence, slotsAt(signer, 1n)),
    hold: (fence, signer) => ledger.hold(fence, [{ signer, nonce: 1n, txId: txIdOf(1) }], []),
    'hold, for the cursor': (fence, signer) =>
      ledger.hold(fence, [{ signer: COVERED, nonce: 1n, txId: txIdOf(1) }], [{ from: stateAt(signer, 1n), to: 2n }]),
    adopt: (fence, signer) => ledger.adopt(fence, [{ signer, nonce: 1n, txId: txIdOf(1) }]),
    freeMissing: (fence, signer) => ledger.freeMissing(fence, slotsAt(signer, 1n), 5),
    openFree: (fence, signer) => ledger.openFree(fence, slotsAt(signer, 1n)),
    fill: (fence, signer) => ledger.fill(fence, [{ signer, nonce: 1n, txId: txIdOf(1) }]),
    release: (fence, signer) => ledger.release(fence, slotsAt(signer, 1n)),
    forget: (fence, signer) => ledger.forget(fence, slotsAt(signer, 1n)),
    reopen: (fence, signer) => ledger.reopen(fence, slotsAt(signer, 1n)),
    consume: (fence, signer) => ledger.consume(fence, [{ signer, nonce: 1n, txHash: MINED_HASH }]),
  };
  const COVERED: SignerId = { chainId: DEV_CHAIN, address: anAddress(0xc0ffee) };

  it.each(Object.keys(WRITES))('needs a fence that covers the signer: %s', async (name) => {
    const lease = await lab.lease(COVERED);
    const foreign = lab.lab.freshSigner();
    const write = lab.write([lease], async (fence) => WRITES[name]?.(fence, foreign));
    await expect(write).rejects.toThrow('a critical write was made outside its fence');
  });
});

it('asked for no slots at all every method writes nothing, and is no bug', async () => {
  const lease = await lab.lease();
  await lab.write([lease], async (fence) => {
    await ledger.align(fence, []);
    await ledger.hold(fence, [], []);
    await ledger.adopt(fence, []);
    await ledger.openFree(fence, []);
    await ledger.fill(fence, []);
    await ledger.release(fence, []);
    await ledger.forget(fence, []);
    await ledger.reopen(fence, []);
    await ledger.consume(fence, []);
  });
  expect(await ledger.missing([])).toEqual([]);
  expect(await ledger.gaps([])).toEqual([]);
  expect(await ledger.movedGaps([])).toEqual([]);
  expect(await lab.slots(lease.signer)).toEqual([]);
});
