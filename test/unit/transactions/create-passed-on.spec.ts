import { expect, it } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TxHistory } from '../../../src/modules/events/index.js';
import type { CreateNow } from '../../../src/modules/transactions/application/create-now.js';
import type { CreateTx } from '../../../src/modules/transactions/application/create-tx.js';
import type { Forwarding } from '../../../src/modules/transactions/application/forwarding.js';
import type { TxQueries } from '../../../src/modules/transactions/application/tx-views.js';
import type { WaitForState } from '../../../src/modules/transactions/application/wait-for-state.js';
import type { CreateTxDto } from '../../../src/modules/transactions/infrastructure/http/create-tx.dto.js';
import { TxController } from '../../../src/modules/transactions/infrastructure/http/tx.controller.js';
import { anAddress, DEV_CHAIN } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';

it('a create that is passed on has its key and its chain in the body, also when the client sent neither there', async () => {
  const passedOn: unknown[] = [];
  const unused = {} as unknown;
  const answer = { status: 202, contentType: 'application/json', body: '{}' };
  const controller = new TxController(
    unused as CreateTx,
    {
      execute: async (_request: unknown, original: { readonly body: unknown }) => {
        passedOn.push(original.body);
        return { kind: 'forwarded', answer };
      },
    } as unknown as CreateNow,
    { wasForwarded: (_headers: unknown, body: unknown) => void passedOn.push(body) } as unknown as Forwarding,
    unused as TxQueries,
    unused as TxHistory,
    unused as WaitForState,
    new ModelChains(new ModelChain()),
  );
  const reply = { status: () => reply, header: () => reply } as unknown as FastifyReply;
  const body: CreateTxDto = { signer: anAddress(1), payload: { to: anAddress(2) }, allocate: 'now' };
  await controller.create(body, { 'idempotency-key': 'invoice-4711' }, { body } as FastifyRequest, reply);
  // The signature of a node that passes it on is of the very same body.
  const whole = { ...body, chainId: DEV_CHAIN, requestId: 'invoice-4711' };
  expect(passedOn).toEqual([whole, whole]);
});
