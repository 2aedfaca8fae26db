/**
 * What differs from the product's defaults, and why. It is in the results.
 * - confirmations.required: CONFIRMED two blocks after MINED.
 * - pollInterval: the head of a chain with 1 s blocks is looked at four times a second.
 * - maxInFlight and inFlightStart: see {@link inFlightPerSigner}.
 */
export const SERVICE_CONFIG = {
  confirmations: { required: 2 },
  database: { poolSize: 20 },
} as const;

export const SERVICE_CHAIN = { pollInterval: '250ms' } as const;

/** Of all signers together. */
export const IN_FLIGHT = 6_000;

/**
 * A few seconds' worth of transactions, so that no signer waits for blocks. Not more: the dev chain puts everything there is in
 * one block, and takes a time that grows with the square of a block's size to tell its receipts (6 s for 6,000).
 */
function inFlightPerSigner(signers: number): number {
  return Math.max(64, Math.ceil(IN_FLIGHT / signers));
}

/** From the first transaction on: what the product learns meanwhile is row 8. */
export function inFlight(signers: number): { readonly maxInFlight: number; readonly inFlightStart: number } {
  const perSigner = inFlightPerSigner(signers);
  return { maxInFlight: perSigner, inFlightStart: perSigner };
}

/** What the numbers depend on most, to stand beside them. */
export function settingsInWords(): string {
  const perSigner = [1, 10, 100, 1_000].map((signers) => `${inFlightPerSigner(signers)} with ${signers}`).join(', ');
  return (
    `settings: confirmations.required ${SERVICE_CONFIG.confirmations.required}, chains[].pollInterval ${SERVICE_CHAIN.pollInterval}, ` +
    `blocks of 1 s; execution.maxInFlight by signers: ${perSigner} (the product begins at 64 and learns up to 1,000)`
  );
}
