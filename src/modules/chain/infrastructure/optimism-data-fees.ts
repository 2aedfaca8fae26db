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
  'function getOperatorFee(uint256 gasUsed) view returns (uint256)',
]);
const METHOD = 'eth_call';
/** What a call of an account without code returns. */
const NO_CODE = '0x';

/**
 * Asks the predeployed oracle of a chain of the OP stack: `getL1FeeUpperBound` from the Fjord upgrade on; before, `getL1Fee` of as many
 * bytes that are not zero, which are the dearest. One question for each size. And `getOperatorFee` of the gas limit, from the Isthmus upgrade on
 * (Jovian has another formula, which the oracle knows); before, there is no such fee.
 */
export class OptimismDataFees extends L1DataFees {
  /** @param mustExist whether the config says that there is an oracle. Where only a profile does, a chain without one has no such fee */
  constructor(
    private readonly rpc: RpcReader,
    private readonly mustExist: boolean,
  ) {
    super();
  }

  async upperBounds(calls: readonly DataOfCall[]): Promise<bigint[]> {
    const [sizes, gas] = [calls.map(unsignedSize), calls.map((call) => call.gas)];
    const dataFees = await ofDistinct(sizes, (some) => this.ofSizes(some));
    const operatorFees = await ofDistinct(gas, (some) => this.ofOperator(some));
    return calls.map((_, i) => (dataFees[i] ?? 0n) + (operatorFees[i] ?? 0n));
  }

  private async ofOperator(gas: readonly bigint[]): Promise<bigint[]> {
    const replies = await this.rpc.replies(METHOD, gas.map(operatorFeeParams));
    return replies.map((reply) => (reply.kind === 'error' ? 0n : this.feeIn(reply)));
  }

  private async ofSizes(sizes: readonly number[]): Promise<bigint[]> {
    const replies = await this.rpc.replies(METHOD, sizes.map(upperBoundParams));
    const old = sizes.filter((_, i) => replies[i]?.kind === 'error');
    const oldFees = await this.rpc.all(METHOD, old.map(feeParams), wei);
    return sizes.map((size, i) => {
      const reply: RpcReply | undefined = replies[i];
      if (reply?.kind !== 'error') return this.feeIn(reply);
      return oldFees[old.indexOf(size)] ?? 0n;
    });
  }

  private feeIn(reply: RpcReply | undefined): bigint {
    const isMissing = reply?.kind === 'result' && reply.value === NO_CODE;
    return isMissing && !this.mustExist ? 0n : this.rpc.parsed(METHOD, reply, wei);
  }
}

function upperBoundParams(size: number): Params {
  return ofOracle(ABI.encodeFunctionData('getL1FeeUpperBound', [size]));
}

function feeParams(size: number): Params {
  return ofOracle(ABI.encodeFunctionData('getL1Fee', [`0x${'ff'.repeat(size)}`]));
}

function operatorFeeParams(gas: bigint): Params {
  return ofOracle(ABI.encodeFunctionData('getOperatorFee', [gas]));
}

/** Each distinct item is asked for once. */
async function ofDistinct<T>(items: readonly T[], ask: (some: readonly T[]) => Promise<bigint[]>): Promise<bigint[]> {
  const distinct = [...new Set(items)];
  const answers = await ask(distinct);
  return items.map((item) => answers[distinct.indexOf(item)] ?? 0n);
}

function ofOracle(data: string): Params {
  return [{ to: ORACLE, data }, 'latest'];
}

function wei(value: unknown): bigint {
  return quantity(value, 'the fee beside the gas');
}
