/** What every transaction of the benchmark does: a call with 32 bytes of data to an account without code. */
export const RECEIVER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
/** EIP-7623: 21,000 and 40 for each byte of data that is not zero, at most 22,280. */
export const GAS_LIMIT = 30_000n;

/** Call data like no other's in the run: the witness counts by it. */
export function callData(n: number): string {
  return `0x${n.toString(16).padStart(64, '0')}`;
}

/** Bodies for `POST /api/v1/tx`, round robin over the signers. @param from number of the first one */
export function txBodies(addresses: readonly string[], count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, i) => JSON.stringify(request(addresses, from + i)));
}

/** Bodies for `POST /api/v1/tx/batch`. */
export function batchBodies(addresses: readonly string[], count: number, size: number, from = 0): string[] {
  return Array.from({ length: Math.ceil(count / size) }, (_, batch) => {
    const length = Math.min(size, count - batch * size);
    return JSON.stringify({ items: Array.from({ length }, (__, i) => request(addresses, from + batch * size + i)) });
  });
}

function request(addresses: readonly string[], n: number): object {
  return {
    signer: addresses[n % addresses.length],
    requestId: `bench-${n}`,
    payload: { to: RECEIVER, data: callData(n), gasLimit: GAS_LIMIT.toString() },
  };
}
