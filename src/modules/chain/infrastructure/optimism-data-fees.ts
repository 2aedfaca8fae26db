import { Interface } from 'ethers';
import { type DataOfCall, L1DataFees, unsignedSize } from '../domain/l1-data-fees.js';
import { quantity } from './parse-answer.js';
import type { RpcReply } from './rpc/json-rpc.js';
import type { Params, RpcReader } from './rpc/rpc-reader.js';

/** The `GasPriceOracle` of every chain of the OP stack. */
export const ORACLE = '0x420000000000000000000000000000000000000f';
const ABI = new Interface([
  'function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)',
  'function getL1Fee(bytes data) view returns (uint256)',
]);
const METHOD = 'eth_call';

/**
 * Asks the predeployed oracle of a chain of the OP stack: `getL1FeeUpperBound` from the Fjord upgrade on; before, `getL1Fee` of as many
 * bytes that are not zero, which are the dearest. One question for each size.
 */
export class OptimismDataFees extends L1DataFees {
  constructor(private readonly rpc: RpcReader) {
    super();
  }

  async upperBounds(calls: readonly DataOfCall[]): Promise<bigint[]> {
    const sizes = calls.map(unsignedSize);
    const distinct = [...new Set(sizes)];
    const fees = await this.ofSizes(distinct);
    const feeOf = new Map(distinct.map((size, i) => [size, fees[i] ?? 0n]));
    return sizes.map((size) => feeOf.get(size) ?? 0n);
  }

  private async ofSizes(sizes: readonly number[]): Promise<bigint[]> {
    const replies = await this.rpc.replies(METHOD, sizes.map(upperBoundParams));
    const old = sizes.filter((_, i) => replies[i]?.kind === 'error');
    const oldFees = await this.rpc.all(METHOD, old.map(feeParams), wei);
    return sizes.map((size, i) => {
      const reply: RpcReply | undefined = replies[i];
      if (reply?.kind !== 'error') return this.rpc.parsed(METHOD, reply, wei);
      return oldFees[old.indexOf(size)] ?? 0n;
    });
  }
}

function upperBoundParams(size: number): Params {
  return ofOracle(ABI.encodeFunctionData('getL1FeeUpperBound', [size]));
}

function feeParams(size: number): Params {
  return ofOracle(ABI.encodeFunctionData('getL1Fee', [`0x${'ff'.repeat(size)}`]));
}

function ofOracle(data: string): Params {
  return [{ to: ORACLE, data }, 'latest'];
}

function wei(value: unknown): bigint {
  return quantity(value, 'the L1 data fee');
}
