import type { Answered, Quirk, Quirks } from '../support/chain-facade.js';

export type Fields = Record<string, unknown>;

/** How the nodes of a family of chains differ from geth and anvil, from public documents. */
export interface Family {
  readonly name: string;
  /** Where it is told. */
  readonly source: string;
  readonly quirks: Quirks;
  /** Calls of one batch; a larger one costs the connection. */
  readonly mostInBatch?: number;
  /** Arguments of the anvil behind it. */
  readonly anvil?: readonly string[];
  /** Sections of the config above the test defaults. */
  readonly config?: Fields;
  /** The node keeps nothing that it does not mine at once, so nothing can be outbid. */
  readonly hasNoPool?: boolean;
  /** Fields of a receipt that its nodes do not tell. */
  readonly untold?: readonly ('gasUsed' | 'effectiveGasPrice')[];
}

/** Changes what the node answers, unless that is null. */
export function changing(change: (result: Fields) => unknown): Quirk {
  return async (_call, ask) => {
    const answer = await ask();
    return 'result' in answer && answer.result !== null ? { result: change(answer.result as Fields) } : answer;
  };
}

/** The same, of each item of a list. */
export function changingEach(change: (item: Fields) => unknown): Quirk {
  return async (_call, ask) => {
    const answer = await ask();
    return 'result' in answer && Array.isArray(answer.result)
      ? { result: (answer.result as Fields[]).map(change) }
      : answer;
  };
}

/** More gas than the node says. */
export function costing(more: bigint): Quirk {
  return async (_call, ask) => {
    const answer = await ask();
    return 'result' in answer ? { result: hex(BigInt(String(answer.result)) + more) } : answer;
  };
}

/** Of every receipt, alone and by block. */
export function receipts(change: (receipt: Fields) => Fields): Quirks {
  return {
    eth_getTransactionReceipt: changing(change),
    eth_getBlockReceipts: changingEach(change),
  };
}

/** Of every header, by number and by hash. */
export function blocks(change: (block: Fields) => Fields): Quirks {
  return { eth_getBlockByNumber: changing(change), eth_getBlockByHash: changing(change) };
}

/** Each block has a transaction that nobody signed. */
export function withSystemTx(at: 'first' | 'last', hash: string, fields: Fields): Quirks {
  return blocks((block) => {
    const own = block['transactions'] as unknown[];
    const full = {
      ...fields,
      hash,
      blockHash: block['hash'],
      blockNumber: block['number'],
      transactionIndex: hex(at === 'first' ? 0 : own.length),
      input: '0x',
      v: '0x0',
      r: '0x0',
      s: '0x0',
    };
    const system = typeof own[0] === 'object' ? full : hash;
    return { ...block, transactions: at === 'first' ? [system, ...own] : [...own, system] };
  });
}

export const answering =
  (result: unknown): Quirk =>
  () => ({ result });

export const unsupported: Quirk = ({ method }) => ({
  error: { code: -32601, message: `the method ${method} does not exist/is not available` },
});

export function without(fields: Fields, ...names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

export function refusing(code: number, message: string): Answered {
  return { error: { code, message } };
}

export const hex = (value: number | bigint): string => `0x${value.toString(16)}`;
