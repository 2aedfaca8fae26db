import { maxOf } from '../../../kernel/quantities.js';

/** What a node wants at least, in wei per gas (or per blob gas); a field is absent where its refusal says nothing of it. */
export interface DemandedFee {
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  readonly maxFeePerBlobGas?: bigint;
}

type Field = keyof DemandedFee;

interface Row {
  readonly field: Field;
  /** For the text in lower case. Its first group is a price; the second, where there is one, by how many percent another must be higher. */
  readonly pattern: RegExp;
  /** Only a higher price than this one will do. */
  readonly more?: true;
}

const FEE: Field = 'maxFeePerGas';
const TIP: Field = 'maxPriorityFeePerGas';
const BLOB: Field = 'maxFeePerBlobGas';
const PENALTY = String.raw`(?: queued(?: \+ (\d{1,3})% replacement penalty)?)?`;

/** The first row that fits counts for its field, so that "blob gas fee cap" is not read as "gas fee cap". */
const ROWS: readonly Row[] = [
  // geth, bor: "gas tip cap 1, minimum needed 1000000", "blob fee cap 0, minimum needed 1"; bsc: "tip needed 3000000000"
  { field: BLOB, pattern: /blob fee cap \d+, minimum needed (\d+)/ },
  { field: TIP, pattern: /tip cap \d+, minimum needed (\d+)/ },
  { field: TIP, pattern: /tip needed (\d+)/ },
  // geth, avalanche: "new tx gas fee cap 1 <= 2 queued", "new tx gas tip cap 1 < 2 queued + 100% replacement penalty"
  { field: BLOB, pattern: new RegExp(`blob gas fee cap \\d+ <=? (\\d+)${PENALTY}`), more: true },
  { field: FEE, pattern: new RegExp(`(?<!blob )gas fee cap \\d+ <=? (\\d+)${PENALTY}`), more: true },
  { field: TIP, pattern: new RegExp(`gas tip cap \\d+ <=? (\\d+)${PENALTY}`), more: true },
  // avalanche: "have gas fee cap (0) < pool minimum fee cap (25000000000)"
  { field: FEE, pattern: /pool minimum fee cap \((\d+)\)/ },
  { field: TIP, pattern: /pool gas tip cap \((\d+)\)/ },
  // hardhat: "A gasPrice/maxFeePerGas of at least 3300000000 is necessary", "below the minimum of 8000000000"
  { field: FEE, pattern: /maxfeepergas of at least (\d+)/ },
  { field: TIP, pattern: /maxpriorityfeepergas of at least (\d+)/ },
  { field: FEE, pattern: /below the minimum of (\d+)/ },
  // nethermind: "EffectivePriorityFeePerGas too low 10 < 20, BaseFee: 30", "FeePerGas needs to be higher than 100"
  { field: TIP, pattern: /effectivepriorityfeepergas too low \d+ < (\d+)/ },
  { field: FEE, pattern: /feepergas needs to be higher than (\d+)/, more: true },
  // reth: "below minimum required priority fee 1000000", "PriorityFeeBelowMinimum { minimum_priority_fee: 1000000 }"
  { field: TIP, pattern: /minimum[ _](?:required )?priority[ _]fee:? (\d+)/ },
  // The blob base fee of the next block. besu: "blobBaseFee: 7"; erigon: "blobGasPrice: 7"; revm: "block_blob_gas_price: 7"
  { field: BLOB, pattern: /(?:blobbasefee|blobgasprice|blob_gas_price)[:=] ?(\d+)/ },
  { field: BLOB, pattern: /blob gas price \((\d+)\) is greater/ },
  // The base fee of the next block. geth: "baseFee: 875000000"; hardhat: "has a baseFeePerGas of 7"; lotus: "baseFeeLowerBound: 2"
  { field: FEE, pattern: /\bbase[ _]?fee(?:pergas of|lowerbound:|[:=]) ?(\d+)/ },
  // Nodes with a least gas price. metis, hedera, parity, openethereum, wasp, conflux, neon, harmony, cosmos
  { field: FEE, pattern: /use at least tx\.gasprice = (\d+)/ },
  { field: FEE, pattern: /minimum gas price '(\d+)'/ },
  { field: FEE, pattern: /\(minimal: (\d+)/ },
  { field: FEE, pattern: /insufficient gas price\. min=(\d+)/ },
  { field: FEE, pattern: /gas price too low\. must be at least (\d+)/ },
  { field: FEE, pattern: /min price in space \w+, expected (\d+)/ },
  { field: FEE, pattern: /underpriced: have \d+ want (\d+)/ },
  { field: FEE, pattern: /gas price threshold of (\d+)/ },
  { field: FEE, pattern: /gas prices too low, got: \d+\w* required: (\d+)(?:a[a-z]+)\b/ },
  // The price of the transaction that would be replaced. parity, openethereum, conflux, lotus
  { field: FEE, pattern: /in the queue with gas price (\d+)wei/, more: true },
  { field: FEE, pattern: /too low to replace, previous tx gas: (\d+)/, more: true },
  { field: FEE, pattern: /specify a gas price > (\d+)/, more: true },
  { field: TIP, pattern: /increase gaspremium to (\d+)/ },
];

/**
 * What a node demands in its refusal of a transaction that is too cheap. Only for messages of a class that says so: a revert reason can
 * quote anything.
 *
 * @returns null when the message has no number that is a price
 */
export function demandedFee(message: string): DemandedFee | null {
  const text = message.toLowerCase();
  const found: Partial<Record<Field, bigint>> = {};
  for (const { field, pattern, more } of ROWS) {
    const [, price, percent] = found[field] === undefined ? (pattern.exec(text) ?? []) : [];
    if (price !== undefined && price.length <= MAX_DIGITS)
      found[field] = more ? aboveBy(BigInt(price), BigInt(percent ?? 0)) : BigInt(price);
  }
  return Object.keys(found).length === 0 ? null : found;
}

/** Longer numbers are no prices. */
const MAX_DIGITS = 30;

function aboveBy(price: bigint, percent: bigint): bigint {
  return maxOf((price * (100n + percent) + 99n) / 100n, price + 1n);
}

/** "tx fee (1.20 ether) exceeds the configured cap (1.00 ether)": geth and its kin, `--rpc.txfeecap`. */
const CAP = /cap \((\d{1,30})(?:\.(\d{1,18}))? (ether|wei)\)/i;
const ETHER_DECIMALS = 18;

/**
 * The highest cost of a transaction that a node accepts, in wei, from the text of its refusal; null when the text has none. geth prints two
 * digits, so `0.00 ether` is some cap that the text does not name.
 */
export function nodeTxFeeCap(message: string): bigint | null {
  const [, whole, fraction = '', unit] = CAP.exec(message) ?? [];
  if (whole === undefined) return null;
  const cap = unit?.toLowerCase() === 'wei' ? BigInt(whole) : BigInt(whole + fraction.padEnd(ETHER_DECIMALS, '0'));
  return cap === 0n ? null : cap;
}
