import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { CreateNow } from '../../src/modules/requests/application/create-now.js';
import { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { WaitForState } from '../../src/modules/requests/application/wait-for-state.js';
import { aRequest } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

describe('a look at the states of long polls', () => {
  it('takes 66,000 of them, more than a statement has parameters', async () => {
    const txId = await lab.sent(1);
    const others = Array.from(
      { length: 66_000 },
      (_, n) => `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`,
    );
    const known = new Map([...others, txId].map((one) => [one, null]));
    expect(await lab.node.get(TxQueries).changedStates(known)).toEqual(new Map([[txId, 'IN_MEMPOOL']]));
  });
});

it('a create that is to be answered with its nonce is stored where nobody more may wait, and answered as it is', async () => {
  const node = await lab.startNode({}, ({ server }) => Object.assign(server, { maxWaiters: 1 }));
  const client = new AbortController();
  const first = node.get(WaitForState).execute(await lab.create(1), 'CONFIRMED', 60_000, client.signal);
  const request = { ...aRequest(), signer: node.signer(), requestId: 'now' };
  const result = await node
    .get(CreateNow)
    .execute(request, async () => false, { path: '/', body: {}, caller: ANYONE, wasForwarded: false });
  expect(result).toMatchObject({ kind: 'created', tx: { isNew: true }, view: { state: 'PENDING', nonce: null } });
  client.abort();
  await first;
});
