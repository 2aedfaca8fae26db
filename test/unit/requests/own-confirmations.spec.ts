import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { hashRequest, requestText } from '../../../src/modules/ledger/application/request-hash.js';
import { CreateTxDto } from '../../../src/modules/requests/infrastructure/http/create-tx.dto.js';
import { toRequest } from '../../../src/modules/requests/infrastructure/http/to-request.js';
import { RequestValidationPipe } from '../../../src/platform/http/validation-pipe.js';
import { aRequest, anAddress, DEV_CHAIN } from '../../support/builders.js';

const pipe = new RequestValidationPipe();
const read = async (confirmations: unknown): Promise<number | null> => {
  const body = { signer: anAddress(1), requestId: 'r-1', payload: { to: anAddress(2) }, confirmations };
  return toRequest(pipe.read(CreateTxDto, body), DEV_CHAIN, undefined, ANYONE).confirmations;
};

describe('the confirmations of a request', () => {
  it.each([
    [0, 0],
    [10_000, 10_000],
    [null, null],
    [undefined, null],
  ])('%p is read as %p', async (given, expected) => {
    expect(await read(given)).toBe(expected);
  });

  it.each([-1, 10_001, 1.5, '3', true, [3], {}])('%p is refused', async (given) => {
    await expect(read(given)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('are part of what must be the same under one requestId, 0 and none included', () => {
    const hashes = [null, 0, 1].map((confirmations) => hashRequest(requestText(aRequest({ confirmations }))));
    expect(new Set(hashes).size).toBe(3);
  });

  it('leave the hash of a request without them as it was before there were any', () => {
    expect(hashRequest(requestText(aRequest()))).toBe(
      '0x09a4fa518734126a6c1dd0762d19da678178293e00f5e7679c06355c6c616cea',
    );
  });
});
