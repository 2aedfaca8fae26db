import { expect } from '@jest/globals';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import { DEV_CHAIN } from './builders.js';
import type { HttpAnswer, Service } from './service.js';

interface Operation {
  readonly description: string;
  readonly security: readonly object[];
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** One of the OpenAPI document that demands a scope. */
export interface GuardedOperation {
  readonly method: string;
  readonly path: string;
  readonly scope: string;
}

const ID = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
const FILLED: Readonly<Record<string, string>> = {
  txId: ID,
  id: ID,
  eventId: '1-1-0',
  chainId: String(DEV_CHAIN),
  address: DEV_ACCOUNTS[0],
};

/** Every operation of the document: none can be forgotten. */
export async function guardedOperations(service: Service): Promise<readonly GuardedOperation[]> {
  const { body } = await service.get<OpenApi>('/docs-json');
  const all = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const [guarded, open] = [true, false].map((is) => all.filter(({ path }) => path.startsWith('/api/') === is));
  expect(open?.map(({ path, operation }) => [path, operation.security]).sort()).toEqual([
    ['/health/live', []],
    ['/health/ready', []],
    ['/metrics', []],
  ]);
  expect(guarded?.length).toBeGreaterThan(35);
  return (guarded ?? []).map(({ method, path, operation: { description, security } }) => {
    const scope = /Scope: `([^`]+)`\.$/.exec(description)?.[1] ?? '';
    expect([method, path, scope, security.length]).toEqual([method, path, expect.stringMatching(/./), 2]);
    return { method, path, scope };
  });
}

/** Sends it as whoever has the key or token. @returns what refused them; `passes` for any other answer */
export async function refusalOf(
  ask: (
    method: string,
    url: string,
    key: string | null,
    body?: unknown,
  ) => Promise<HttpAnswer<Record<string, unknown>>>,
  { method, path }: GuardedOperation,
  key: string | null,
): Promise<unknown> {
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => FILLED[name] ?? ID);
  const body = method === 'GET' || method === 'DELETE' ? undefined : {};
  const { status, body: answer, headers } = await ask(method, url, key, body);
  if (status === 401) return [status, answer['code'], headers.get('www-authenticate')];
  return status === 403 ? [status, answer['code']] : 'passes';
}

export const NOBODY = [401, 'unauthenticated', 'Bearer'];
export const WITHOUT_SCOPE = [403, 'missing_scope'];
