import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { toReplace, toSpeedUp } from '../../../src/modules/commands/infrastructure/http/to-command.js';
import type { ReplaceTxDto } from '../../../src/modules/commands/infrastructure/http/commands.dto.js';
import type { TxView } from '../../../src/modules/ledger/index.js';
import { ProveBlobs } from '../../../src/modules/requests/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, anAddress, aSigner } from '../../support/builders.js';
import { aTxView } from '../../support/view-builders.js';

const SIGNER = aSigner();
const VIEW = aTxView({ priority: 7 });
const SIDECAR = { blobs: [], commitments: [], blobProofs: [], cellProofs: [] };

/** A blob has its first byte as its hash. */
const PROVE = fakeOf(ProveBlobs, {
  execute: async (request, blobs) => {
    const blobHashes = blobs.map((blob) => aHash(blob[1] ?? 0));
    return blobs.length === 0 ? request : { ...request, payload: { ...request.payload, blobHashes }, sidecar: SIDECAR };
  },
});

const replaced = (payload: Partial<ReplaceTxDto['payload']>) =>
  toReplace(VIEW, { requestId: 'new', payload: { to: anAddress(3), ...payload } }, undefined, ANYONE, PROVE);

describe('a speed-up', () => {
  const spedUp = (fees: object, payload: Partial<TxView['payload']> = {}) =>
    toSpeedUp({ ...VIEW, payload: { ...VIEW.payload, ...payload } }, { fees }, 'key', ANYONE);

  it('may name the fees of the kind of its tx', () => {
    expect(spedUp({ maxFeePerBlobGas: '4' }, { blobs: [aHash(3)] }).fees).toMatchObject({ maxFeePerBlobGas: 4n });
    expect(spedUp({ gasPrice: '9' }).fees).toMatchObject({ gasPrice: 9n });
  });

  it.each<[object, Partial<TxView['payload']>]>([
    [{ maxFeePerBlobGas: '4' }, {}],
    [{ gasPrice: '9' }, { blobs: [aHash(3)] }],
  ])('is refused with others, which would mean nothing: %j', (fees, payload) => {
    expect(() => spedUp(fees, payload)).toThrow(expect.objectContaining({ code: 'invalid_fees' }));
  });
});

describe('a replace', () => {
  it('is of the signer and the priority of its tx', async () => {
    const { request, ...command } = await replaced({ value: '5' });
    expect(command).toMatchObject({ txId: 'tx', kind: 'replace', requestId: 'new', fees: null });
    expect(request).toMatchObject({ signer: SIGNER, priority: 7, payload: { to: anAddress(3), value: 5n } });
    expect(request.sidecar).toBeUndefined();
  });

  it('may have blobs, and is another one with others', async () => {
    const [one, two] = [await replaced({ blobs: ['0x0003'] }), await replaced({ blobs: ['0x0004'] })];
    expect(one.request).toMatchObject({ payload: { blobHashes: [aHash(3)] }, sidecar: SIDECAR });
    expect((await replaced({ blobs: ['0x0003'] })).requestHash).toBe(one.requestHash);
    expect(two.requestHash).not.toBe(one.requestHash);
    expect(two.request.requestHash).not.toBe(one.request.requestHash);
  });

  it('may have authorizations with a signature, and none that Lockstep would sign', async () => {
    const signed = { address: anAddress(9), nonce: 4, yParity: 0, r: aHash(1), s: aHash(2) } as const;
    const { request } = await replaced({ authorizationList: [signed] });
    expect(request.payload.authorizationList).toMatchObject([{ address: anAddress(9), nonce: 4n }]);
    const own = { address: anAddress(9), signer: SIGNER.address };
    await expect(replaced({ gasLimit: 90_000, authorizationList: [signed, own] })).rejects.toMatchObject({
      code: 'not_in_replacement',
    });
  });
});
