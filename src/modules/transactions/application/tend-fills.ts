import { Injectable } from '@nestjs/common';
import { InvariantViolation } from '../../../kernel/errors.js';
import { parseHex } from '../../../kernel/hex.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector, FeeQuote } from '../../chain/index.js';
import { FencedUnitOfWork, type Lease, NonceLedger, type SlotRef } from '../../signers/index.js';
import type { Attempt } from '../domain/attempt.js';
import { AttemptRepository, type OpenFill } from '../domain/attempt.repository.js';
import { initialFees } from '../domain/fee-policy.js';
import { type AttemptDraft, AttemptSigner } from './attempt-signer.js';
import { BroadcastAttempts } from './broadcast-attempts.js';
import { ChainFeeCaps } from './chain-fee-caps.js';
import { LaneMemory } from './lane-memory.js';
import { leasesFor } from './leases-for.js';

/** A plain transfer (EIP-2028). */
const TRANSFER_GAS = 21_000n;
const NO_DATA = parseHex('0x');

/**
 * A hole blocks every nonce behind it, so a released slot that no payload took is consumed by a no-op: 0 wei to ourselves
 * (I7). A fill lives as a held slot without a tx; it is sent again until a receipt shows which attempt was mined.
 */
@Injectable()
export class TendFills {
  constructor(
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly ledger: NonceLedger,
    private readonly attempts: AttemptRepository,
    private readonly signer: AttemptSigner,
    private readonly broadcast: BroadcastAttempts,
    private readonly memory: LaneMemory,
    private readonly caps: ChainFeeCaps,
    private readonly log: Log,
  ) {}

  async execute(chain: ChainConnector, allLeases: readonly Lease[]): Promise<void> {
    const leases = allLeases.filter((lease) => this.memory.mayHaveHoles(lease));
    if (leases.length === 0) return;
    await this.takeHoles(leases);
    const open = await this.attempts.openFills(leases.map((lease) => lease.signer));
    this.memory.holesTended(leases, new Set(open.map(({ slot }) => signerKey(slot.signer))));
    if (open.length > 0) await this.tend(chain, leases, open);
  }

  private async tend(chain: ChainConnector, leases: readonly Lease[], open: readonly OpenFill[]): Promise<void> {
    const mined = await this.settleMined(chain, leases, open);
    const waiting = open.filter((fill) => !mined.has(slotKey(fill.slot)));
    const unsigned = waiting.filter((fill) => fill.attempts.length === 0);
    const fresh = unsigned.length === 0 ? [] : await this.signFills(await chain.feeQuote(), leases, unsigned);
    const resent = waiting.flatMap((fill) => fill.attempts.slice(-1));
    await this.broadcast.execute(
      chain,
      leases,
      [...resent, ...fresh].map((attempt) => ({ tx: null, attempt })),
    );
  }

  private async takeHoles(leases: readonly Lease[]): Promise<void> {
    const taken = await this.unitOfWork.run(leases, 'fill', (fence) =>
      this.ledger.takeHoles(
        fence,
        leases.map((lease) => lease.signer),
      ),
    );
    for (const { signer, nonce } of taken)
      this.log.warn('filling a hole in the nonce sequence', { signer: signerKey(signer), nonce });
  }

  private async settleMined(
    chain: ChainConnector,
    leases: readonly Lease[],
    open: readonly OpenFill[],
  ): Promise<ReadonlySet<string>> {
    const sent = open.flatMap((fill) => fill.attempts);
    if (sent.length === 0) return new Set();
    const lookups = await chain.receipts(sent.map((attempt) => attempt.txHash));
    const winners = sent.filter((_, index) => lookups[index]?.kind === 'found').map(toWinner);
    if (winners.length > 0) {
      await this.unitOfWork.run(
        leasesFor(
          leases,
          winners.map(({ signer }) => signer),
        ),
        'fill',
        async (fence) => {
          await this.ledger.consume(fence, winners);
          await this.attempts.decide(fence, winners);
        },
      );
    }
    return new Set(winners.map(slotKey));
  }

  private async signFills(quote: FeeQuote, leases: readonly Lease[], fills: readonly OpenFill[]): Promise<Attempt[]> {
    const drafts = fills.map(({ slot }) => fillDraft(slot, quote, this.caps.of(slot.signer.chainId)));
    const signed = await this.signer.sign(drafts);
    if (signed.length !== drafts.length) throw new InvariantViolation('fewer attempts than drafts');
    await this.unitOfWork.run(
      leasesFor(
        leases,
        signed.map(({ signer }) => signer),
      ),
      'fill',
      (fence) => this.attempts.insert(fence, signed),
    );
    return signed;
  }
}

function fillDraft(slot: SlotRef, quote: FeeQuote, cap: bigint | null): AttemptDraft {
  return {
    ...slot,
    kind: 'fill',
    txId: null,
    to: slot.signer.address,
    value: 0n,
    data: NO_DATA,
    accessList: [],
    gasLimit: TRANSFER_GAS,
    // Everything behind the hole waits for it.
    fees: initialFees({ fees: { maxFeePerGas: null, maxPriorityFeePerGas: null }, speed: 'fast' }, quote, cap),
  };
}

function toWinner({ signer, nonce, txHash }: Attempt): SlotRef & { readonly txHash: Attempt['txHash'] } {
  return { signer, nonce, txHash };
}

function slotKey({ signer, nonce }: SlotRef): string {
  return `${signerKey(signer)}/${nonce}`;
}
