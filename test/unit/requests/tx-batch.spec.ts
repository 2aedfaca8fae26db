import { describe, expect, it } from '@jest/globals';
import { Conflict, InvariantViolation, Unavailable } from '../../../src/kernel/errors.js';
import type { CreatedTx } from '../../../src/modules/requests/application/create-tx.js';
import { BatchMistakes, itemsOf } from '../../../src/modules/requests/infrastructure/http/tx-batch.items.js';
import { itemView, outcomeOf } from '../../../src/modules/requests/infrastructure/http/tx-batch.items.js';
import { InvalidRequest } from '../../../src/platform/http/invalid-request.js';
import { aCreatedTx } from '../../support/builders.js';

const TX = aCreatedTx();

async function viewOf(work: Promise<CreatedTx>) {
  return itemView(await outcomeOf(work), 3);
}

describe('the result of an item', () => {
  it('is the transaction with 202 when it is new, and with 200 when it had been stored before', async () => {
    const { signer, isNew: _new, isPaused: _paused, ...rest } = TX;
    const tx = { ...rest, chainId: signer.chainId, signer: signer.address };
    expect(await viewOf(Promise.resolve(TX))).toEqual({ index: 3, status: 202, tx });
    const known = { ...TX, isNew: false, state: 'IN_MEMPOOL', nonce: 2n ** 60n } as const;
    expect(await viewOf(Promise.resolve(known))).toEqual({
      index: 3,
      status: 200,
      tx: { ...tx, state: 'IN_MEMPOOL', nonce: '1152921504606846976' },
    });
  });

  it.each([
    [
      new InvalidRequest([{ path: 'signer', code: 'missing_field', message: 'no signer' }]),
      400,
      'invalid_request',
      false,
    ],
    [
      new Conflict('idempotency_conflict', 'other body', 'use another', { nonce: 2n ** 60n }),
      409,
      'idempotency_conflict',
      false,
    ],
    [new Unavailable('database_unavailable', 'no answer', 'try again'), 503, 'database_unavailable', true],
    [new InvariantViolation('two payloads on slot 7', { slot: 7 }), 500, 'internal_error', false],
    [new TypeError('cannot read secret-internals of undefined'), 500, 'internal_error', false],
  ])('is a problem of its own when it was refused: %s', async (error, status, code, retryable) => {
    const view = await viewOf(Promise.reject(error));
    expect(view).toMatchObject({
      index: 3,
      status,
      problem: { status, code, retryable, instance: '/api/v1/tx/batch#/items/3', type: `urn:lockstep:problem:${code}` },
    });
    // JSON has no bigint, and what is inside is told to nobody.
    expect(JSON.stringify(view)).not.toMatch(/slot|secret-internals/);
  });
});

describe('the items of a batch', () => {
  it('are handed on unread, good and bad', () => {
    const items = [{ signer: 1 }, null, 'text', []];
    expect(itemsOf({ items })).toEqual(items);
    expect(itemsOf({ items: new Array(1000).fill(0) })).toHaveLength(1000);
  });

  it.each([
    ['there are none', { items: [] }, 'empty_batch'],
    ['there are too many', { items: new Array(1001).fill(0) }, 'batch_too_large'],
    ['it is missing', {}, 'invalid_request'],
    ['it is no list', { items: { 0: {} } }, 'invalid_request'],
    ['there is a field that is not known', { items: [{}], atomic: true }, 'unknown_field'],
    ['the batch is a list', [{}], 'invalid_request'],
    ['the batch is null', null, 'invalid_request'],
    ['the batch is a text', 'items', 'invalid_request'],
  ])('are none when %s', (_words, body, code) => {
    expect(() => itemsOf(body)).toThrow(expect.objectContaining({ code }));
  });
});

it('the mistakes of a batch are told as for one request; of the items after them the first is found, and not told', () => {
  const batch = new BatchMistakes();
  const made = [30, 30, 30, 0, 30].map((count) => {
    const mistakes = batch.ofNext();
    for (let i = 0; i < count && !mistakes.isFull; i += 1) mistakes.add('value', 'invalid_quantity', 'no');
    return [mistakes.found, mistakes.told.length];
  });
  expect(made).toEqual([
    [30, 30],
    [20, 20],
    [1, 0],
    [0, 0],
    [1, 0],
  ]);
});
