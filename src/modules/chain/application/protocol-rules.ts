import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { type Address, parseAddress, parseHex } from '../../../kernel/hex.js';
import { type ChainId, type SignerId } from '../../../kernel/signer-id.js';
import { MAX_INIT_CODE_BYTES } from '../../../kernel/transaction-gas.js';
import { answeredWithin, Pauses } from '../../../platform/scheduling/pause.js';
import { Chains } from '../domain/chain-connector.js';
import type { GasEstimate } from '../domain/gas-estimate.js';

/** A fork may change them. */
const KEPT_MS = 3_600_000;
/** What no node told is asked for again. */
const UNKNOWN_KEPT_MS = 60_000;
/** A client waits for the answer. */
const LONGEST_WAIT_MS = 3_000;
/** It has no code on any chain. */
const NOBODY = parseAddress('0x00000000000000000000000000000000c0ffee00');
/** Enough that the tolerance of estimates (1.5 % in geth) does not matter. */
const PROBE_BYTES = 1_000;

interface Learnt<T> {
  readonly answer: Promise<T | null>;
  untilMs: number;
}

/**
 * Rules that not all chains have, learnt by estimates when a transaction is about to be judged by them, and then for an hour. Null where no node
 * told: then nothing is judged.
 */
@Injectable()
export class ProtocolRules {
  private readonly gasOfByte = new Map<ChainId, Learnt<bigint>>();
  private readonly initCodeLimits = new Map<ChainId, Learnt<boolean>>();

  constructor(
    private readonly chains: Chains,
    private readonly clock: Clock,
    private readonly pauses: Pauses,
  ) {}

  /** About the least gas for each byte of call data that is not zero: 16 (EIP-2028), 40 (EIP-7623), or what the chain has in their place. */
  leastGasOfByte({ chainId, address }: SignerId): Promise<bigint | null> {
    return this.learn(this.gasOfByte, chainId, async () => {
      const [short, long] = await this.estimates(chainId, [
        { from: address, to: NOBODY, data: PROBE_BYTES },
        { from: address, to: NOBODY, data: 2 * PROBE_BYTES },
      ]);
      if (short?.kind !== 'ok' || long?.kind !== 'ok') return null;
      return (long.gas - short.gas) / BigInt(PROBE_BYTES);
    });
  }

  /** Whether init code ends at 49,152 bytes (EIP-3860). */
  limitsInitCode({ chainId, address }: SignerId): Promise<boolean | null> {
    return this.learn(this.initCodeLimits, chainId, async () => {
      const [estimate] = await this.estimates(chainId, [{ from: address, to: null, data: MAX_INIT_CODE_BYTES + 1 }]);
      if (estimate?.kind === 'ok') return false;
      return estimate?.kind === 'rejected' ? true : null;
    });
  }

  private async learn<T>(
    known: Map<ChainId, Learnt<T>>,
    chainId: ChainId,
    ask: () => Promise<T | null>,
  ): Promise<T | null> {
    const before = known.get(chainId);
    if (before && this.clock.monotonicMs() < before.untilMs) return before.answer;
    const learnt = { answer: ask(), untilMs: this.clock.monotonicMs() + UNKNOWN_KEPT_MS };
    known.set(chainId, learnt);
    const answer = await learnt.answer;
    if (answer !== null) learnt.untilMs = this.clock.monotonicMs() + KEPT_MS;
    return answer;
  }

  /** `data`: so many bytes. Init code is of zeros, which stop at once. */
  private async estimates(
    chainId: ChainId,
    calls: readonly { readonly from: Address; readonly to: Address | null; readonly data: number }[],
  ): Promise<readonly GasEstimate[]> {
    const asked = Promise.resolve().then(() =>
      this.chains.get(chainId).estimateGas(
        calls.map(({ from, to, data }) => ({
          from,
          to,
          value: 0n,
          data: parseHex(`0x${(to === null ? '00' : 'ff').repeat(data)}`),
        })),
      ),
    );
    const told = await answeredWithin(this.pauses.pause, LONGEST_WAIT_MS, asked).catch(() => undefined);
    return told ?? [];
  }
}
