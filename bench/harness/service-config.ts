/**
 * What differs from the product's defaults, and why. It is in the results.
 * - maxInFlight: a single signer must not wait for blocks with 64 transactions; this is many seconds' worth.
 * - confirmations.required: CONFIRMED two blocks after MINED.
 * - pollInterval: the head of a chain with 1 s blocks is looked at four times a second.
 */
export const SERVICE_CONFIG = {
  execution: { maxInFlight: 20_000 },
  confirmations: { required: 2 },
  database: { poolSize: 20 },
} as const;

export const SERVICE_CHAIN = { pollInterval: '250ms' } as const;
