import { expect, it } from '@jest/globals';
import { ProveBlobs } from '../../../src/modules/requests/application/prove-blobs.js';
import type { ProvenBlobs } from '../../../src/modules/requests/domain/kzg.js';
import { aHash, aRequest } from '../../support/builders.js';

const PROVEN: ProvenBlobs = {
  hashes: [aHash(1)],
  sidecar: { blobs: [], commitments: [], blobProofs: [], cellProofs: [] },
};
const prove = new ProveBlobs({
  prove: async (blobs: readonly Uint8Array[]) => {
    expect(blobs).not.toHaveLength(0);
    return PROVEN;
  },
});

it('a request with blobs gets their hashes and their sidecar', async () => {
  const { payload, ...rest } = aRequest();
  expect(await prove.execute({ payload, ...rest }, [new Uint8Array(1)])).toEqual({
    ...rest,
    payload: { ...payload, blobHashes: PROVEN.hashes },
    sidecar: PROVEN.sidecar,
  });
});

it('a request without blobs stays as it is', async () => {
  expect(await prove.execute(aRequest(), [])).toEqual(aRequest());
});
