import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import type { BroadcastOutcome, ChainConnector } from '../../../src/modules/chain/index.js';
import { BroadcastAttempts, sendBatches } from '../../../src/modules/sending/application/broadcast-attempts.js';
import type { ClassifySends } from '../../../src/modules/sending/application/classify-sends.js';
import type { RecordSends } from '../../../src/modules/sending/application/record-sends.js';
import type { AnsweredSend, Sending } from '../../../src/modules/sending/application/send.js';
import type { Attempt } from '../../../src/modules/ledger/domain/attempt.js';
import type { BlobRepository } from '../../../src/modules/ledger/index.js';
import { aHash, aManagedTx, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';

/** `a3` is nonce 3 of signer a. */
function sendings(...names: readonly string[]) {
  return names.map((name) => ({
    name,
    attempt: { signer: aSigner(name.charCodeAt(0)), nonce: BigInt(name.slice(1)) },
  }));
}

function names(trains: readonly { readonly name: string }[][]): string[][] {
  return trains.map((train) => train.map(({ name }) => name));
}

function run(signer: string, count: number): string[] {
  return Array.from({ length: count }, (_, nonce) => `${signer}${nonce}`);
}

describe('what is sent one after the other', () => {
  it('is everything of a few signers, each in nonce order', () => {
    expect(names(sendBatches(sendings('b7', 'a2', 'b5', 'a1')))).toEqual([['a1', 'a2', 'b5', 'b7']]);
  });

  it('is what fits into one request, and never a part of a signer', () => {
    const trains = names(sendBatches(sendings(...run('a', 60), ...run('b', 60), ...run('c', 40))));
    expect(trains).toEqual([run('a', 60), [...run('b', 60), ...run('c', 40)]]);
  });

  it('is all of a signer, however much', () => {
    expect(names(sendBatches(sendings(...run('a', 250), ...run('b', 1))))).toEqual([run('a', 250), ['b0']]);
  });

  it('is nothing of nothing', () => {
    expect(sendBatches([])).toEqual([]);
  });
});

describe('a send without an answer', () => {
  const REFUSED: BroadcastOutcome = { kind: 'rejected', errorClass: 'oversized_data', message: 'too large' };
  const POOR = aSigner(1);
  const OTHER = aSigner(2);
  let clock: FakeClock;
  let broadcast: BroadcastAttempts;
  /** What came of the last send. */
  let recorded: readonly AnsweredSend[];
  /** Milliseconds of each wait. */
  let waits: number[];
  /** Hashes of each call of the chain, and how it ends. */
  let posts: { readonly hashes: Hash[]; readonly end: (outcome: BroadcastOutcome) => Promise<void> }[];
  let isSilent: (hashes: readonly Hash[]) => boolean;
  const chain = {
    chainId: DEV_CHAIN,
    broadcast: (sent: readonly { readonly hash: Hash }[]) =>
      new Promise<BroadcastOutcome[]>((resolve) => {
        const hashes = sent.map(({ hash }) => hash);
        const end = async (outcome: BroadcastOutcome): Promise<void> => {
          resolve(hashes.map(() => outcome));
          await new Promise(setImmediate);
        };
        posts.push({ hashes, end });
        if (!isSilent(hashes)) void end({ kind: 'accepted' });
      }),
  } as unknown as ChainConnector;

  beforeEach(() => {
    [clock, waits, posts] = [new FakeClock(), [], []];
    isSilent = (hashes) => hashes.includes(aHash(1n));
    const pause = async (ms: number): Promise<void> => {
      waits.push(ms);
      await new Promise(setImmediate);
    };
    broadcast = new BroadcastAttempts(
      new RecordedWrites().asDoor(),
      { sidecars: async () => new Map() } as unknown as BlobRepository,
      { execute: async (_chain: unknown, sends: unknown) => sends } as unknown as ClassifySends,
      {
        execute: async (_leases: unknown, sends: readonly AnsweredSend[]) => void (recorded = sends),
      } as unknown as RecordSends,
      { reached: () => undefined },
      clock,
      { pause },
    );
  });

  /** One whose hash is its nonce. Nonce 1 is the one without an answer. */
  function sending(nonce: bigint, attempt: Partial<Attempt> = {}): Sending {
    const tx = aManagedTx({ txId: `tx-${nonce}`, nonce, signer: attempt.signer ?? POOR }).build();
    return { tx, attempt: anAttempt({ nonce, txHash: aHash(nonce), txId: tx.id, signer: POOR, ...attempt }) };
  }
  const other = (nonce: bigint): Sending => sending(nonce, { signer: OTHER });
  const sendTo = async (to: ChainConnector, ...sendings: readonly Sending[]): Promise<unknown[]> => {
    await broadcast.execute(to, [], sendings);
    return recorded.map(seen);
  };
  const send = (...sendings: readonly Sending[]): Promise<unknown[]> => sendTo(chain, ...sendings);
  const seen = ({ attempt, outcome: { status, notSent } }: AnsweredSend): unknown[] => [
    attempt.nonce,
    notSent ? 'not sent' : status,
  ];
  const sentHashes = (): bigint[][] => posts.map(({ hashes }) => hashes.map(BigInt));

  it('counts as sent, and what shared its batch is sent again apart', async () => {
    expect(await send(sending(1n), other(2n))).toEqual([
      [1n, 'UNKNOWN'],
      [2n, 'ACCEPTED'],
    ]);
    expect([sentHashes(), waits]).toEqual([
      [[1n, 2n], [1n], [2n]],
      [2_000, 2_000, 2_000],
    ]);
  });

  it('leaves what shared its batch in doubt when every node refuses that afterwards: the first send may still arrive', async () => {
    const sent = send(sending(1n), other(2n));
    isSilent = () => true;
    while (posts.length < 3) await new Promise(setImmediate);
    await posts[2]?.end(REFUSED);
    expect(await sent).toEqual([
      [1n, 'UNKNOWN'],
      [2n, 'UNKNOWN'],
    ]);
  });

  it('holds back what its signer sends next, and nothing of others', async () => {
    await send(sending(1n));
    expect(await send(sending(1n, { status: 'UNKNOWN' }), sending(3n), other(2n))).toEqual([
      [1n, 'not sent'],
      [3n, 'not sent'],
      [2n, 'ACCEPTED'],
    ]);
    expect(sentHashes()).toEqual([[1n], [2n]]);
  });

  it('is answered later, and the answer stands for the next send of the same bytes alone', async () => {
    await send(sending(1n));
    await posts[0]?.end({ kind: 'accepted' });
    isSilent = () => false;
    const again = sending(1n, { status: 'UNKNOWN' });
    expect(await send(again, sending(3n))).toEqual([
      [1n, 'ACCEPTED'],
      [3n, 'ACCEPTED'],
    ]);
    expect(sentHashes()).toEqual([[1n], [3n]]);
    await send(again);
    expect(sentHashes()).toEqual([[1n], [3n], [1n]]);
  });

  it('stays in doubt when it is refused later', async () => {
    await send(sending(1n));
    await posts[0]?.end(REFUSED);
    // Also when a caller holds the attempt as it was before.
    expect(await send(sending(1n))).toEqual([[1n, 'UNKNOWN']]);
  });

  it('makes the next ones of its signer share no batch and wait a little only, for a minute', async () => {
    await send(sending(1n));
    await posts[0]?.end(REFUSED);
    isSilent = () => false;
    await send(sending(3n), other(2n));
    clock.advance(60_000);
    await send(sending(4n), other(5n));
    expect([sentHashes().slice(1), waits.slice(1)]).toEqual([
      [[2n], [3n], [4n, 5n]],
      [2_000, 250, 2_000],
    ]);
  });

  it('is sent again when its late answer is older than two minutes', async () => {
    await send(sending(1n));
    await posts[0]?.end({ kind: 'accepted' });
    clock.advance(120_001);
    await send(sending(1n, { status: 'UNKNOWN' }));
    expect(sentHashes()).toEqual([[1n], [1n]]);
  });

  it('frees its signer also when the send fails in the end', async () => {
    let fail: (error: Error) => void = () => undefined;
    const failing = { chainId: DEV_CHAIN, broadcast: () => new Promise((_, reject) => (fail = reject)) };
    await sendTo(failing as unknown as ChainConnector, sending(1n));
    fail(new Error('broken'));
    await new Promise(setImmediate);
    isSilent = () => false;
    expect(await send(sending(3n))).toEqual([[3n, 'ACCEPTED']]);
  });
});
