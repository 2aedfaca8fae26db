import { Injectable } from '@nestjs/common';
import { signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { actionOf, type ChainConnector, FinalityRule, type NodeErrorResponse } from '../../chain/index.js';
import { FencedUnitOfWork, type Lease, leasesFor, NonceLedger, slotKey, type SlotRef } from '../../signers/index.js';
import {
  asFound,
  type Attempt,
  AttemptRepository,
  highestFees,
  LaneMemory,
  type OpenFill,
} from '../../transactions/index.js';
import { AttemptSigner, BroadcastAttempts, FeeRules, noOpDraft, noOpGas } from '../../sending/index.js';
import { ForeignNonces } from './foreign-nonces.js';

/**
 * A hole blocks every nonce behind it, so a released slot that no payload took is consumed by a no-op: 0 wei to ourselves
 * (I7). A fill lives as a held slot without a tx; it is sent again until a receipt shows which attempt was mined.
 */
@Injectable()
export class FillNonceGaps {
  constructor(
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly ledger: NonceLedger,
    private readonly attempts: AttemptRepository,
    private readonly signer: AttemptSigner,
    private readonly broadcast: BroadcastAttempts,
    private readonly memory: LaneMemory,
    private readonly taken: ForeignNonces,
    private readonly fees: FeeRules,
    private readonly finality: FinalityRule,
    private readonly log: Log,
  ) {}

  async execute(chain: ChainConnector, allLeases: readonly Lease[]): Promise<void> {
    const leases = allLeases.filter((lease) => this.memory.mayHaveGaps(lease));
    if (leases.length === 0) return;
    await this.takeGaps(leases);
    const open = await this.attempts.openFills(leases.map((lease) => lease.signer));
    this.memory.gapsChecked(leases, new Set(open.map(({ slot }) => signerKey(slot.signer))));
    if (open.length > 0) await this.tend(chain, leases, open);
  }

  private async tend(chain: ChainConnector, leases: readonly Lease[], open: readonly OpenFill[]): Promise<void> {
    const mined = await this.settleMined(chain, leases, open);
    const left = open.filter((fill) => !mined.has(slotKey(fill.slot)));
    const taken = await this.yieldTaken(chain, leases, left);
    const waiting = left.filter((fill) => !taken.has(slotKey(fill.slot)));
    const fresh = await this.signFills(
      chain,
      leases,
      waiting.filter((fill) => usable(fill) === undefined),
    );
    const signed = new Set(fresh.map(slotKey));
    const resent = waiting.flatMap(({ slot, attempts }) => (signed.has(slotKey(slot)) ? [] : (attempts.at(-1) ?? [])));
    await this.broadcast.execute(
      chain,
      leases,
      [...resent.map(asFound), ...fresh].map((attempt) => ({ tx: null, attempt })),
    );
  }

  private async takeGaps(leases: readonly Lease[]): Promise<void> {
    const taken = await this.unitOfWork.run(leases, 'fill', (fence) =>
      this.ledger.takeGaps(
        fence,
        leases.map((lease) => lease.signer),
      ),
    );
    for (const { signer, nonce } of taken)
      this.log.warn('filling a hole in the nonce sequence', { signer: signerKey(signer), nonce });
  }

  /** A mined fill is left alone; its slot is consumed when its block is deep enough, for until then a reorg may take it back. */
  private async settleMined(
    chain: ChainConnector,
    leases: readonly Lease[],
    open: readonly OpenFill[],
  ): Promise<ReadonlySet<string>> {
    const sent = open.flatMap((fill) => fill.attempts);
    if (sent.length === 0) return new Set();
    const head = await this.finality.agreedHead(chain, (await chain.head()).number);
    const lookups = await chain.receipts(sent.map((attempt) => attempt.txHash));
    const mined = sent.flatMap((attempt, index) => {
      const lookup = lookups[index];
      return lookup?.kind === 'found' ? [{ attempt, receipt: lookup.receipt }] : [];
    });
    if (mined.length === 0) return new Set();
    const final = head && (await this.finality.heights(chain, head.number));
    const deep = mined.filter(({ receipt }) => final !== null && receipt.blockNumber <= final.byRule);
    const there = deep.length === 0 ? [] : await chain.agreedBlocks(deep.map(({ receipt }) => receipt.blockNumber));
    const winners = deep.filter(({ receipt }, i) => there[i]?.value === receipt.blockHash);
    await this.consume(
      leases,
      winners.map(({ attempt }) => toWinner(attempt)),
    );
    // A receipt of another branch is none: that fill is sent again.
    const elsewhere = new Set(deep.filter((fill, i) => there[i] && !winners.includes(fill)));
    return new Set(mined.filter((fill) => !elsewhere.has(fill)).map(({ attempt }) => slotKey(attempt)));
  }

  /** Somebody else used the nonce: there is no hole any more. */
  private async yieldTaken(
    chain: ChainConnector,
    leases: readonly Lease[],
    open: readonly OpenFill[],
  ): Promise<ReadonlySet<string>> {
    const doubts = open
      .filter(({ attempts }) => attempts.some(isCalledUsed))
      .map(({ slot, attempts }) => ({ slot, hashes: attempts.map(({ txHash }) => txHash) }));
    const taken = await this.taken.execute(chain, doubts);
    await this.consume(
      leases,
      taken.map(({ slot }) => ({ ...slot, txHash: null })),
    );
    return new Set(taken.map(({ slot }) => slotKey(slot)));
  }

  private async consume(leases: readonly Lease[], winners: readonly Winner[]): Promise<void> {
    if (winners.length === 0) return;
    const covered = leasesFor(
      leases,
      winners.map(({ signer }) => signer),
    );
    await this.unitOfWork.run(covered, 'fill', async (fence) => {
      await this.ledger.consume(fence, winners);
      await this.attempts.decide(fence, winners);
    });
  }

  private async signFills(
    chain: ChainConnector,
    leases: readonly Lease[],
    fills: readonly OpenFill[],
  ): Promise<Attempt[]> {
    if (fills.length === 0) return [];
    const quote = await chain.feeQuote();
    const payable = fills.flatMap(({ slot, attempts }) => {
      const fees = this.fees.noOp(chain.chainId, quote, highestFees(attempts));
      if (!fees)
        this.log.warn('filling a hole costs more than the caps of the chain allow', {
          signer: signerKey(slot.signer),
          nonce: slot.nonce,
        });
      return fees ? [{ slot, fees }] : [];
    });
    if (payable.length === 0) return [];
    const gas = await noOpGas(
      chain,
      payable.map(({ slot }) => slot.signer),
    );
    const signed = await this.signer.sign(payable.map(({ slot, fees }, index) => noOpDraft(slot, fees, gas[index])));
    const covered = leasesFor(
      leases,
      signed.map(({ signer }) => signer),
    );
    await this.unitOfWork.run(covered, 'fill', (fence) => this.attempts.insert(fence, signed));
    return signed;
  }
}

/** Attempts of one fill: as many prices as this are tried. */
const MOST_ATTEMPTS = 16;
/** Other gas or another price may be taken. */
const WANTS_OTHER_BYTES: ReadonlySet<NodeErrorResponse> = new Set<NodeErrorResponse>(['fail_payload', 'reprice']);

/** The attempt to send again; none when there is none yet, or when the last one was refused for what it is. */
function usable({ attempts }: OpenFill): Attempt | undefined {
  const last = attempts.at(-1);
  const isRefused = last?.errorClass != null && WANTS_OTHER_BYTES.has(actionOf(last.errorClass).response);
  return isRefused && attempts.length < MOST_ATTEMPTS ? undefined : last;
}

/** A node says that its nonce is used. */
function isCalledUsed({ errorClass }: Attempt): boolean {
  return errorClass !== null && actionOf(errorClass).response === 'check_receipts';
}

/** Null: a transaction that is not ours. */
type Winner = SlotRef & { readonly txHash: Attempt['txHash'] | null };

function toWinner({ signer, nonce, txHash }: Attempt): Winner {
  return { signer, nonce, txHash };
}
