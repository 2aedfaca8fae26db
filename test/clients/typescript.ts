import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

/* What a team writes that makes its client with `openapi-typescript` and `openapi-fetch`: compiled in strict mode, without one cast. */

const [, , baseUrl = '', key = '', from = '', to = '', part = ''] = process.argv;
const headers = { authorization: `Bearer ${key}` };
const api = createClient<paths, 'application/json' | 'application/problem+json'>({ baseUrl, headers });

type Tx = components['schemas']['TxDto'];
type Problem = components['schemas']['ProblemDto'];

function told<T>({ data, error }: { data?: T; error?: Problem }): T {
  if (data !== undefined) return data;
  throw new Error(error === undefined ? 'no answer' : `${error.code}: ${error.advice}`);
}

async function send(requestId: string, value: string | number): Promise<string> {
  const { txId } = told(await api.POST('/api/v1/tx', { body: { signer: from, requestId, payload: { to, value } } }));
  return txId;
}

async function wait(txId: string, waitFor: Tx['state']): Promise<Tx> {
  const query = { waitFor, timeoutMs: 30_000 };
  return told(await api.GET('/api/v1/tx/{txId}', { params: { path: { txId }, query } }));
}

async function sent(requestId: string): Promise<string> {
  const txId = await send(requestId, 3);
  await wait(txId, 'IN_MEMPOOL');
  return txId;
}

async function codeOf(txId: string): Promise<string> {
  const { error } = await api.GET('/api/v1/tx/{txId}', { params: { path: { txId } } });
  // The codes are a union: a misspelt one does not compile.
  return error?.code === 'tx_not_found' ? error.code : 'another one';
}

/** Nothing is mined meanwhile. */
async function change(): Promise<readonly string[]> {
  const kinds: string[] = [];
  const path = { txId: await sent('to-speed-up') };
  const faster = await api.POST('/api/v1/tx/{txId}/speed-up', { params: { path }, body: { requestId: 'faster' } });
  kinds.push(faster.data?.kind ?? faster.error?.code ?? '');
  const other = { txId: await sent('to-replace') };
  const body = { requestId: 'replacement', payload: { to, value: '5' } };
  const replaced = await api.POST('/api/v1/tx/{txId}/replace', { params: { path: other }, body });
  kinds.push(replaced.data?.kind ?? replaced.error?.code ?? '');
  const unwanted = { txId: await sent('to-cancel') };
  const cancelled = await api.POST('/api/v1/tx/{txId}/cancel', { params: { path: unwanted } });
  kinds.push(cancelled.data?.kind ?? cancelled.error?.code ?? '');
  return kinds;
}

async function listAll(): Promise<number> {
  let cursor: string | undefined;
  let txs = 0;
  do {
    const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
    const page = told(await api.GET('/api/v1/tx', { params: { query } }));
    txs += page.items.length;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return txs;
}

async function webhook(): Promise<string> {
  const url = 'https://example.com/lockstep';
  const { id, secret } = told(await api.POST('/api/v1/webhooks', { body: { url, types: ['tx.confirmed'] } }));
  const path = { id };
  told(await api.PATCH('/api/v1/webhooks/{id}', { params: { path }, body: { description: 'ledger' } }));
  const found = told(await api.GET('/api/v1/webhooks/{id}', { params: { path } }));
  await api.DELETE('/api/v1/webhooks/{id}', { params: { path } });
  return `${found.description ?? ''} ${secret.slice(0, 6)}`;
}

/** Values that only the events of one type have, found by the type alone. */
async function paid(): Promise<readonly string[]> {
  const page = told(await api.GET('/api/v1/events', { params: { query: { after: '0-0-0', limit: 100 } } }));
  return page.items.flatMap((event) =>
    event.type === 'tx.receipt_updated'
      ? [event.data.receipt.status]
      : event.type === 'tx.refused'
        ? [event.data.becomes]
        : [],
  );
}

async function follow(): Promise<object> {
  const { state, receipt } = await wait(await send('first', '1'), 'CONFIRMED');
  const code = await codeOf('019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b');
  const [paidFor] = await paid();
  return { state, status: receipt?.status, code, listed: await listAll(), webhook: await webhook(), paidFor };
}

process.stdout.write(JSON.stringify(part === 'change' ? await change() : await follow()));
