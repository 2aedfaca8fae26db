import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SignerOverview, type SignerView } from '../../../src/modules/ops/application/signer-overview.js';
import { SignersController } from '../../../src/modules/ops/infrastructure/http/signers.controller.js';
import { anAddress, DEV_CHAIN } from '../../support/builders.js';
import { type HttpApp, send, startHttpApp } from '../platform/http-app.js';

const URL = '/api/v1/signers';
const view = (n: number) => ({ chainId: DEV_CHAIN, address: anAddress(n) }) as unknown as SignerView;

let http: HttpApp;
let calls: unknown[][];
let known: SignerView[];

beforeAll(async () => {
  const list = async (after: unknown, limit: number) => (calls.push([after, limit]), known.slice(0, limit));
  const providers = [{ provide: SignerOverview, useValue: { list } }];
  http = await startHttpApp({ controllers: [SignersController], providers });
});
afterAll(() => http.app.close());
beforeEach(() => {
  [calls, known] = [[], [view(1), view(2)]];
});

async function get(query = ''): Promise<Record<string, unknown>> {
  return JSON.parse((await send(http.port, { url: `${URL}${query}` })).text);
}

describe('GET /api/v1/signers', () => {
  it('has fifty on a page unless told otherwise, and no next page when that is all', async () => {
    expect(await get()).toEqual({ items: known, nextCursor: null });
    expect(await get('?limit=2')).toEqual({ items: known, nextCursor: null });
    expect(calls).toEqual([
      [null, 51],
      [null, 3],
    ]);
  });

  it('goes on after the last signer of the page', async () => {
    const { items, nextCursor } = await get('?limit=1');
    expect(items).toEqual([view(1)]);
    await get(`?limit=1&cursor=${String(nextCursor)}`);
    expect(calls.at(-1)).toEqual([{ chainId: DEV_CHAIN, address: anAddress(1) }, 2]);
  });

  it('has up to two hundred on a page', async () => {
    expect(await get('?limit=200')).toMatchObject({ nextCursor: null });
    for (const limit of ['0', '201', 'x']) expect(await get(`?limit=${limit}`)).toMatchObject({ status: 400 });
  });

  it.each(['1', `x${DEV_CHAIN}:${anAddress(1)}`, `${DEV_CHAIN}:${anAddress(1)}0`, `${'9'.repeat(16)}:${anAddress(1)}`])(
    'refuses a cursor of %s',
    async (text) => {
      const cursor = Buffer.from(text).toString('base64url');
      expect(await get(`?cursor=${cursor}`)).toMatchObject({ status: 400, code: 'invalid_cursor' });
      expect(calls).toEqual([]);
    },
  );
});
