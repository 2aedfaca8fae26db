import { describe, expect, it } from '@jest/globals';
import { sendBatches } from '../../../src/modules/sending/application/send-batches.js';
import { aSigner } from '../../support/builders.js';

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
