/** "tx fee (1.20 ether) exceeds the configured cap (1.00 ether)": geth and its kin, `--rpc.txfeecap`. */
const CAP = /cap \((\d{1,30})(?:\.(\d{1,18}))? (ether|wei)\)/i;
const ETHER_DECIMALS = 18;

/** The highest cost of a transaction that a node accepts, in wei, from the text of its refusal; null when the text has none. */
export function nodeTxFeeCap(message: string): bigint | null {
  const [, whole, fraction = '', unit] = CAP.exec(message) ?? [];
  if (whole === undefined) return null;
  return unit?.toLowerCase() === 'wei' ? BigInt(whole) : BigInt(whole + fraction.padEnd(ETHER_DECIMALS, '0'));
}
