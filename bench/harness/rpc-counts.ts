import type { Service } from '../../test/support/service.js';

/** JSON-RPC calls of a service by method since it started, whatever came of them; every item of a batch counts. */
export async function rpcCounts(service: Service): Promise<ReadonlyMap<string, number>> {
  const { body } = await service.get<{ text: string }>('/metrics');
  const counts = new Map<string, number>();
  for (const [, method, count] of body.text.matchAll(/^rpc_requests_total\{.*?method="(\w+)".*?\} (\d+)$/gm))
    if (method !== undefined) counts.set(method, (counts.get(method) ?? 0) + Number(count));
  return counts;
}

/** What was counted between two looks. */
export function countedSince(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  return new Map([...after].map(([method, count]) => [method, count - (before.get(method) ?? 0)]));
}

export function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
