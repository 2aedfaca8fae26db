import { Injectable } from '@nestjs/common';
import { Unprocessable } from '../../../kernel/errors.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import { leastGas, leastSize, MAX_INIT_CODE_BYTES, MAX_TX_BYTES } from '../../../kernel/transaction-gas.js';
import { ChainRules, ProtocolRules } from '../../chain/index.js';
import { type TxPayload, type TxRequest } from '../../ledger/index.js';

/** Less gas for a byte than this is less than EIP-2028 demands (16), with the tolerance of estimates; from the second on it is EIP-7623 (40). */
const BELOW_BERLIN = 14n;
const PRAGUE = 30n;

/**
 * Refuses payloads that no node of their chain can accept, before they take a nonce. What holds on every chain is computed; what does not is asked
 * of the chain, and only for a payload that would break it: without an answer it is accepted.
 */
@Injectable()
export class PayloadLimits {
  constructor(
    private readonly rules: ChainRules,
    private readonly protocol: ProtocolRules,
  ) {}

  /** @throws Unprocessable `payload_too_large`, `gas_limit_above_cap`, `gas_limit_too_low` */
  async assertPossible({ signer, payload }: Pick<TxRequest, 'signer' | 'payload'>): Promise<void> {
    const refusal = (await this.tooLarge(signer, payload)) ?? (await this.wrongLimit(signer, payload));
    if (refusal !== null) throw refusal;
  }

  private async tooLarge(signer: SignerId, payload: TxPayload): Promise<Unprocessable | null> {
    const bytes = (payload.data.length - 2) / 2;
    const isLongInit = payload.to === null && bytes > MAX_INIT_CODE_BYTES;
    if (isLongInit && (await this.protocol.limitsInitCode(signer)) === true)
      return tooLarge(`init code of ${bytes} bytes; the chain takes ${MAX_INIT_CODE_BYTES}`, 'split the contract');
    const size = leastSize(payload);
    // The pool of blobs has other limits.
    if (size <= MAX_TX_BYTES || payload.blobHashes !== undefined) return null;
    return tooLarge(
      `a transaction of ${size} bytes or more; pools take ${MAX_TX_BYTES}`,
      'split its data over several',
    );
  }

  private async wrongLimit(signer: SignerId, payload: TxPayload): Promise<Unprocessable | null> {
    const { gasLimit } = payload;
    if (gasLimit === null) return null;
    const cap = this.rules.transactionGasCap(signer.chainId) ?? 0n;
    if (cap > 0n && gasLimit > cap)
      return new Unprocessable(
        'gas_limit_above_cap',
        `payload.gasLimit ${gasLimit} is above what a transaction of chain ${signer.chainId} may have, ${cap}`,
        'lower it, or leave it out, and Lockstep estimates it',
        { chainId: signer.chainId, cap: cap.toString() },
      );
    const least = await this.leastGas(signer, payload, gasLimit);
    if (gasLimit >= least) return null;
    return new Unprocessable(
      'gas_limit_too_low',
      `payload.gasLimit ${gasLimit} is below what the transaction costs before anything is executed, ${least}`,
      'raise it, or leave it out, and Lockstep estimates it',
      { chainId: signer.chainId, least: least.toString() },
    );
  }

  /** @returns what is known; the chain is asked only where that decides */
  private async leastGas(signer: SignerId, payload: TxPayload, gasLimit: bigint): Promise<bigint> {
    const { withoutData, intrinsic, prague } = leastGas(payload);
    if (gasLimit >= prague || payload.data === '0x') return intrinsic;
    const ofByte = await this.protocol.leastGasOfByte(signer);
    if (ofByte === null) return intrinsic;
    if (ofByte < BELOW_BERLIN) return withoutData;
    return ofByte < PRAGUE ? intrinsic : prague;
  }
}

function tooLarge(what: string, advice: string): Unprocessable {
  return new Unprocessable('payload_too_large', `the payload makes ${what}`, advice, {});
}
