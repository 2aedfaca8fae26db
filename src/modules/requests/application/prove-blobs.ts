import { Injectable } from '@nestjs/common';
import { Kzg } from '../domain/kzg.js';
import type { TxRequest } from '../../ledger/index.js';

type Asked = Omit<TxRequest, 'requestHash'>;

/** Adds the versioned hashes and the sidecar of its blobs to a request, once for all its transactions. */
@Injectable()
export class ProveBlobs {
  constructor(private readonly kzg: Kzg) {}

  /** @param places of those for requests with blobs; all without it */
  async execute(request: Asked, blobs: readonly Uint8Array[], places?: number): Promise<Asked> {
    if (blobs.length === 0) return request;
    const { sidecar, hashes } = await this.kzg.prove(blobs, places);
    return { ...request, payload: { ...request.payload, blobHashes: hashes }, sidecar };
  }
}
