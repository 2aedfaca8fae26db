import { beforeEach, describe, expect, it } from '@jest/globals';
import { RpcUnavailable } from '../../../src/modules/chain/index.js';
import { LookUpReceipts } from '../../../src/modules/confirmations/application/look-up-receipts.js';
import { aHash, anAttempt, aReceipt, DEV_CHAIN } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const ATTEMPTS = [1, 2, 3].map((n) => anAttempt({ txHash: aHash(n) }));
const FOUND = { kind: 'found' as const, receipt: aReceipt({ txHash: aHash(2) }) };

let chain: ModelChain;
let log: RecordingLog;
let lookUp: LookUpReceipts;

beforeEach(() => {
  chain = new ModelChain();
  log = new RecordingLog();
  lookUp = new LookUpReceipts(new ModelChains(chain), log);
});

describe('receipts that are asked for by hash', () => {
  it('are answered for each attempt, whatever its place', async () => {
    chain.faults.receipt = (hash) => (hash === aHash(2) ? FOUND : undefined);
    expect([...(await lookUp.execute(DEV_CHAIN, ATTEMPTS))]).toEqual([
      [aHash(1), { kind: 'none' }],
      [aHash(2), FOUND],
      [aHash(3), { kind: 'none' }],
    ]);
  });

  it('are missing where the chain gave no answer: that is not "no receipt"', async () => {
    chain.receipts = async () => [{ kind: 'none' }];
    expect([...(await lookUp.execute(DEV_CHAIN, ATTEMPTS)).keys()]).toEqual([aHash(1)]);
  });

  it('are all missing when nobody answers, and that is logged', async () => {
    const error = new RpcUnavailable('rpc_unavailable', { chainId: DEV_CHAIN, method: 'receipts' }, 'no answer');
    chain.receipts = () => Promise.reject(error);
    expect([...(await lookUp.execute(DEV_CHAIN, ATTEMPTS))]).toEqual([]);
    expect(log.lines).toMatchObject([{ fields: { chainId: DEV_CHAIN, error } }]);
  });
});
