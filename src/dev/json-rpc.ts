/** One JSON-RPC call, just enough for the launcher; the service has its own pool. */
export async function callRpc(
  url: string,
  method: string,
  params: readonly unknown[] = [],
  timeoutMs = 5_000,
): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const answer: unknown = await response.json();
  if (typeof answer !== 'object' || answer === null || !('result' in answer)) {
    throw new Error(`${method}: ${JSON.stringify(answer)}`);
  }
  return answer.result;
}

export async function chainIdOf(url: string, timeoutMs?: number): Promise<number> {
  return Number(await callRpc(url, 'eth_chainId', [], timeoutMs));
}
