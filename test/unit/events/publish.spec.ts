import { describe, expect, it } from '@jest/globals';
import { DEFAULT_ACCOUNT } from '../../../src/kernel/caller.js';
import type { JsonObject } from '../../../src/kernel/json.js';
import { bodyOf, publicEventsOf, PUBLISHED_REASONS } from '../../../src/modules/events/domain/publish.js';
import { type LoggedEvent, PUBLIC_EVENT_TYPES } from '../../../src/modules/events/domain/public-event.js';
import { EVENT_REASONS, SIGNER_EVENT_REASONS } from '../../../src/modules/events/domain/tx-event.js';
import { aHash, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { EventBodyRules } from '../../support/event-body-rules.js';
import { txIdOf } from '../../support/stored-rows.js';

const rules = new EventBodyRules();
const BLOCK = { number: 9, hash: aHash(9) };
const RANGE = { from: 9, to: 9, hash: aHash(9) };
const RECEIPT = { status: 'success', gasUsed: '21000', effectiveGasPrice: '7', contractAddress: null };
const BEHIND = { cause: 'CHAIN_RESET', chainNonce: 0, usedBelow: 5, block: null };
const FUNDS = { balance: '1', inFlight: '2', queued: '3', missing: '4' };

const aRow = (overrides: Partial<LoggedEvent> = {}): LoggedEvent => ({
  xid: 5n,
  seq: 6n,
  time: new Date('2025-01-01T00:00:00Z'),
  reason: 'sent',
  chainId: DEV_CHAIN,
  signer: aSigner().address,
  txId: txIdOf(1),
  requestId: 'request-1',
  replaces: null,
  callback: null,
  account: DEFAULT_ACCOUNT,
  toState: 'IN_MEMPOOL',
  nonce: 2n ** 53n - 1n,
  txHash: aHash(1),
  block: null,
  error: null,
  detail: null,
  isAfterReorg: false,
  isHold: false,
  ...overrides,
});
/** Type and data, without what all events of a tx have. */
function published(overrides: Partial<LoggedEvent>): [string, JsonObject][] {
  return publicEventsOf(aRow(overrides)).map(({ type, data }) => {
    const { txId, chainId, signer, requestId, state, nonce, txHash, ...rest } = data;
    void [txId, chainId, signer, requestId, state, nonce, txHash];
    return [type, rest];
  });
}

const confirmations = { confirmations: RANGE, newFork: false };
const receipt = ['tx.receipt_updated', { block: BLOCK, receipt: RECEIPT }];
const CASES: [string, Partial<LoggedEvent>, unknown][] = [
  [
    'queued',
    { reason: 'queued', toState: 'PENDING', nonce: null, txHash: null },
    [['tx.accepted', { replaces: null }]],
  ],
  ['queued to replace another', { reason: 'queued', replaces: txIdOf(2) }, [['tx.accepted', { replaces: txIdOf(2) }]]],
  ['sent', {}, [['tx.submitted', { isFeeBump: false, gasLimit: null }]]],
  ['sent, with nothing signed', { txHash: null }, []],
  [
    'gas_bumped',
    { reason: 'gas_bumped', detail: { maxFeePerGas: '9', gasLimit: '40000' } },
    [['tx.submitted', { isFeeBump: true, gasLimit: '40000' }]],
  ],
  [
    'mined',
    { reason: 'mined', block: BLOCK, detail: { ...RECEIPT, ...confirmations } },
    [receipt, ['tx.confirmations', { block: BLOCK, ...confirmations }]],
  ],
  [
    'mined after a reorg',
    { reason: 'mined', block: BLOCK, detail: { ...RECEIPT, ...confirmations }, isAfterReorg: true },
    [receipt, ['tx.confirmations', { block: BLOCK, ...confirmations, newFork: true }]],
  ],
  ['updated with another receipt', { reason: 'updated', block: BLOCK, detail: RECEIPT }, [receipt]],
  ['updated in another way', { reason: 'updated', detail: { subState: 'STALE' } }, []],
  ['updated without detail', { reason: 'updated' }, []],
  [
    'reorg_detected',
    { reason: 'reorg_detected', block: BLOCK, detail: { newFork: true, confirmations: null } },
    [['tx.reorged', { block: BLOCK, newFork: true, confirmations: null }]],
  ],
  [
    'confirmed',
    { reason: 'confirmed', block: BLOCK, detail: confirmations },
    [['tx.confirmed', { block: BLOCK, ...confirmations }]],
  ],
  [
    'failed on chain',
    { reason: 'failed', block: BLOCK, detail: confirmations, error: 'reverted' },
    [['tx.failed', { block: BLOCK, ...confirmations, reason: 'reverted' }]],
  ],
  [
    'failed unsent',
    { reason: 'failed', error: 'refused', txHash: null, nonce: null },
    [['tx.failed', { block: null, confirmations: null, newFork: false, reason: 'refused' }]],
  ],
  [
    'refused',
    { reason: 'refused', error: 'oversized data', detail: { subState: 'REFUSED', becomes: 'FAILED' } },
    [['tx.refused', { reason: 'oversized data', becomes: 'FAILED' }]],
  ],
  [
    'cancelled',
    { reason: 'cancelled', error: 'cancelled' },
    [['tx.cancelled', { block: null, confirmations: null, newFork: false, reason: 'cancelled' }]],
  ],
  [
    'replaced',
    { reason: 'replaced', block: BLOCK, detail: { replacedBy: txIdOf(2) } },
    [['tx.replaced', { block: BLOCK, reason: null, replacedBy: txIdOf(2) }]],
  ],
  [
    'dropped',
    { reason: 'dropped', error: 'expired' },
    [['tx.dropped', { block: null, confirmations: null, newFork: false, reason: 'expired' }]],
  ],
];
const OF_SIGNERS: [string, JsonObject, string][] = [
  ['paused', { by: 'api', reason: 'key rotation', scope: 'signer' }, 'signer.paused'],
  ['resumed', { by: 'api', reason: null, scope: 'signer' }, 'signer.resumed'],
  ['balance_low', FUNDS, 'signer.balance_low'],
  ['balance_restored', FUNDS, 'signer.balance_restored'],
  ['chain_behind', BEHIND, 'signer.chain_behind'],
  ['chain_caught_up', BEHIND, 'signer.chain_caught_up'],
  ['nonce_gap', { nonce: 8 }, 'signer.nonce_gap'],
  ['nonce_gap_closed', { nonce: 8 }, 'signer.nonce_gap_closed'],
];

const OF_HOLDS: [string, Partial<LoggedEvent>, [string, JsonObject][]][] = [
  ['nonce_reserved', { txHash: null }, [['hold.reserved', {}]]],
  ['sent', {}, [['hold.used', {}]]],
  ['sent', { txHash: null }, [['hold.used', {}]]],
  ['reorg_detected', { block: BLOCK }, [['hold.reorged', { block: BLOCK }]]],
  ['confirmed', { block: BLOCK }, [['hold.consumed', { block: BLOCK, status: 'success' }]]],
  ['failed', { block: BLOCK, error: 'reverted' }, [['hold.consumed', { block: BLOCK, status: 'reverted' }]]],
  ['updated', { error: 'closed', detail: { subState: 'CANCELLING' } }, [['hold.closing', { reason: 'closed' }]]],
  ['updated', { detail: { subState: 'STALE' } }, []],
  ['updated', {}, []],
  ['cancelled', { error: 'over' }, [['hold.released', { reason: 'over' }]]],
  ['cancelled', { error: 'closed', block: BLOCK }, [['hold.released', { reason: 'a no-op used its nonce: closed' }]]],
  ['dropped', { error: 'over', nonce: null, txHash: null }, [['hold.dropped', { reason: 'over' }]]],
  ['queued', {}, []],
  ['mined', { block: BLOCK, detail: { ...RECEIPT, ...confirmations } }, []],
  ['gas_bumped', {}, []],
];

describe('what clients see of a row of the log', () => {
  it.each(OF_HOLDS)('about a hold that is %s: %j', (reason, more, expected) => {
    const row = { reason, isHold: true, ...more };
    expect(published(row)).toEqual(expected);
    for (const body of publicEventsOf(aRow(row)).map(bodyOf)) expect(rules.broken(body)).toEqual([]);
  });

  it.each(CASES)('that is %s', (_name, row, expected) => {
    expect(published(row)).toEqual(expected);
    for (const body of publicEventsOf(aRow(row)).map(bodyOf)) expect(rules.broken(body)).toEqual([]);
  });

  it.each(OF_SIGNERS)('about a signer that is %s', (reason, detail, type) => {
    const row = aRow({ reason, detail, txId: null, requestId: null, toState: null, nonce: null, txHash: null });
    const [event] = publicEventsOf(row);
    expect([event?.type, event?.data]).toEqual([type, { chainId: DEV_CHAIN, signer: aSigner().address, ...detail }]);
    expect(rules.broken(event && bodyOf(event))).toEqual([]);
  });

  it('is nothing for every other reason', () => {
    const tested = new Set([
      ...CASES.map(([, { reason = 'sent' }]) => reason),
      ...OF_SIGNERS.map(([reason]) => reason),
      ...OF_HOLDS.map(([reason]) => reason),
    ]);
    expect([...PUBLISHED_REASONS].sort()).toEqual([...tested].sort());
    const others = [...EVENT_REASONS, ...SIGNER_EVENT_REASONS].filter((reason) => !tested.has(reason));
    expect(others.flatMap((reason) => publicEventsOf(aRow({ reason })))).toEqual([]);
  });

  it('has the tx, its place and its time, and is the same whenever it is made', () => {
    const row = aRow({ reason: 'mined', block: BLOCK, detail: { ...RECEIPT, ...confirmations } });
    const [first, second] = publicEventsOf(row).map(bodyOf);
    expect([first?.['id'], second?.['id']]).toEqual(['5-6-0', '5-6-1']);
    expect(first).toMatchObject({
      version: 1,
      time: '2025-01-01T00:00:00.000Z',
      data: { txId: txIdOf(1), requestId: 'request-1', state: 'IN_MEMPOOL', nonce: 2 ** 53 - 1, txHash: aHash(1) },
    });
    expect(publicEventsOf(row).map(bodyOf)).toEqual([first, second]);
  });
});

describe('the documented bodies of events', () => {
  it('are those of every public type, each with an example that keeps its own rules', () => {
    expect([...rules.types].sort()).toEqual([...PUBLIC_EVENT_TYPES].sort());
    for (const type of rules.types) {
      const examples = rules.examplesOf(type);
      expect(examples.length).toBeGreaterThan(0);
      expect(examples.flatMap((body) => rules.broken(body))).toEqual([]);
    }
  });

  it('leave out no field, and know no other one', () => {
    const [body] = publicEventsOf(aRow()).map(bodyOf);
    const data = body?.['data'] as JsonObject;
    const { isFeeBump, ...less } = data;
    expect(rules.broken({ ...body, data: less })).toEqual(["/data must have required property 'isFeeBump'"]);
    expect(rules.broken({ ...body, data: { ...data, more: 1 } })).toEqual([
      '/data must NOT have additional properties',
    ]);
    expect(rules.broken({ ...body, data: { ...data, isFeeBump: isFeeBump === true ? 'true' : 'false' } })).toEqual([
      '/data/isFeeBump must be boolean',
    ]);
  });

  it('describe every field', () => {
    const undescribed: string[] = [];
    const look = (schema: JsonObject, path: string): void => {
      for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>)) {
        if (field['description'] === undefined && name !== 'data') undescribed.push(`${path}.${name}`);
        look(field, `${path}.${name}`);
      }
    };
    for (const type of rules.types) look(rules.schemaOf(type), type);
    expect(undescribed).toEqual([]);
  });
});
