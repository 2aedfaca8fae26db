import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import type { TxFilter } from '../../../src/modules/ledger/application/views/tx-views.js';
import { listStatement } from '../../../src/modules/ledger/infrastructure/tx-list.statement.js';
import { anAddress, DEV_CHAIN } from '../../support/builders.js';

const SIGNER = anAddress(1);
const statement = (filter: Partial<TxFilter>) => listStatement({ kind: 'payload', limit: 7, ...filter }, ANYONE);

describe('the statement of a list', () => {
  it.each(['payload', 'fill'] as const)('asks for one kind alone: %s', (kind) => {
    const { text } = statement({ kind });
    expect(text.match(/m\.kind = '\w+'/g)).toEqual([`m.kind = '${kind}'`]);
  });

  it('gives each filter a parameter, in the place where the text has its number', () => {
    const { text, values } = statement({ chainId: DEV_CHAIN, signer: SIGNER, state: 'MINED', before: 'id' });
    expect(values).toEqual([DEV_CHAIN, SIGNER, 'id', 7]);
    expect(text).toContain('SELECT $1::bigint AS chain_id');
    for (const condition of ['m.signer BETWEEN $2 AND $2', "m.state = 'MINED'", 'm.tx_id < $3', 'LIMIT $4'])
      expect(text).toContain(condition);
  });

  it('reads every chain, and no filter, where none is given', () => {
    const { text, values } = statement({});
    expect([values, text.includes('RECURSIVE chains')]).toEqual([[7], true]);
    for (const condition of ['m.signer', 'm.state', 'm.tx_id <', 'm.nonce']) expect(text).not.toContain(condition);
  });

  it.each([
    ['ALLOCATED', true],
    ['IN_MEMPOOL', true],
    ['MINED', true],
    ['PENDING', false],
    ['FAILED', false],
    ['CONFIRMED', false],
  ] as const)('sorts %s by ids as text, so that no index of all txs is walked: %p', (state, asText) => {
    const { text } = statement({ state });
    expect([text.includes('m.tx_id::text DESC'), text.includes('m.nonce >= 0')]).toEqual([asText, asText]);
  });
});
