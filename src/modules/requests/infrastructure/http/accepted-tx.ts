import { HttpStatus } from '@nestjs/common';
import { InvalidInput } from '../../../../kernel/errors.js';
import { toJsonInteger } from '../../../../kernel/quantities.js';
import type { ChainId } from '../../../../kernel/signer-id.js';
import type { Chains } from '../../../chain/index.js';
import type { CreatedTx } from '../../application/create-tx.js';
import { type AcceptedTxDto } from './tx-responses.js';

/** 202 for a new request, 200 for one that was stored before. */
export function acceptedStatus({ isNew }: CreatedTx): HttpStatus.ACCEPTED | HttpStatus.OK {
  return isNew ? HttpStatus.ACCEPTED : HttpStatus.OK;
}

export function acceptedView({
  txId,
  signer,
  requestId,
  state,
  nonce,
  txHash,
  contractAddress,
}: CreatedTx): AcceptedTxDto {
  const { chainId, address } = signer;
  return {
    txId,
    chainId,
    signer: address,
    requestId,
    state,
    nonce: nonce === null ? null : toJsonInteger(nonce),
    txHash,
    contractAddress,
  };
}

/** @throws InvalidInput `missing_chain_id` when several chains are configured; Unprocessable `unknown_chain` */
export function chainOf(chains: Chains, asked: number | null | undefined): ChainId {
  const ids = chains.ids();
  const [only] = ids;
  if (asked == null && ids.length > 1) {
    throw new InvalidInput('missing_chain_id', 'several chains are configured', 'send a chainId', { chainIds: ids });
  }
  return chains.get(asked ?? only ?? 0).chainId;
}
