import { describe, expect, it } from '@jest/globals';
import type { Closing } from '../../../src/modules/ledger/domain/managed-tx.js';
import {
  type ProgressRow,
  toManagedTx,
  toRequest,
  toStoredOptions,
  toStoredReceipt,
} from '../../../src/modules/ledger/infrastructure/managed-tx.rows.js';
import { aHash, aReceipt, aRequest, aSigner } from '../../support/builders.js';
import { aMadePermit, aPermit } from '../../support/permit-builders.js';

const { chainId, address } = aSigner();
const ROW: ProgressRow = {
  tx_id: 'tx-1',
  chain_id: String(chainId),
  signer: address,
  state: 'IN_MEMPOOL',
  sub_state: 'CANCELLING',
  nonce: '9007199254740993',
  gas_limit: '21000',
  tx_hash: aHash(1),
  receipt: null,
  failure_reason: null,
  kind: 'payload',
  closing: null,
  replaces: null,
  replaced_by: null,
  tries: 2,
  withdrawn_replacement: null,
  requeues: 0,
  last_error: 'no',
  version: 4,
};
const MINED = { state: 'MINED', receipt: toStoredReceipt(aReceipt()) } as const;

describe('a tx that is read from its row', () => {
  it('has what was written', () => {
    const closing: Closing = { as: 'CANCELLED', reason: 'cancelled by its client', won: true };
    const failure_reason = closing.reason;
    expect(toManagedTx({ ...ROW, ...MINED, kind: 'fill', failure_reason, closing }).progress).toEqual({
      txId: 'tx-1',
      kind: 'fill',
      signer: aSigner(),
      state: 'MINED',
      subState: 'CANCELLING',
      nonce: 9_007_199_254_740_993n,
      gasLimit: 21_000n,
      txHash: aHash(1),
      receipt: aReceipt(),
      failureReason: failure_reason,
      closing,
      replaces: null,
      replacedBy: null,
      tries: 2,
      withdrawnReplacement: null,
      requeues: 0,
      lastError: 'no',
      version: 4,
    });
  });

  it('has nothing that it did not have yet', () => {
    const row = { ...ROW, state: 'PENDING', nonce: null, gas_limit: null, tx_hash: null } as const;
    const progress = { nonce: null, gasLimit: null, txHash: null, receipt: null, closing: null };
    expect(toManagedTx(row).progress).toMatchObject(progress);
  });
});

it('a request that is read from its row has the parts of its permits in its call', () => {
  const place = { part: 'deadline', at: 4, bytes: 5 } as const;
  const awaited = aPermit({ places: [place] });
  const made = aMadePermit({ deadline: 0x123456n });
  const data = Buffer.from('ab'.repeat(4) + '00'.repeat(5), 'hex');
  const read = (permit: typeof awaited) => {
    const base = aRequest({ payload: { ...aRequest().payload, permits: [permit] } });
    const options = JSON.parse(JSON.stringify(toStoredOptions(base))) as ReturnType<typeof toStoredOptions>;
    const rest = { request_id: 'r', request_hash: aHash(1), to_address: null, value: '0', priority: 0 };
    return toRequest({ ...ROW, ...rest, data, options, confirmations: null, expires_at: null }).payload;
  };
  expect(read(awaited)).toMatchObject({ data: `0x${data.toString('hex')}`, permits: [awaited] });
  expect(read({ ...awaited, made })).toMatchObject({
    data: `0x${'ab'.repeat(4)}0000123456`,
    permits: [{ ...awaited, made }],
  });
});
