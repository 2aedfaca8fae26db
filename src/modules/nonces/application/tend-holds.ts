import { Injectable } from '@nestjs/common';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { AdoptSent, Findings } from '../../lost-commits/index.js';
import { BegunWork, type ManagedTx, ManagedTxRepository, TxsInFlight, WriteChanges } from '../../ledger/index.js';
import { Custody, type Lease, LeaseManager } from '../../signers/index.js';
import { type HoldVerdict, LookAtHolds } from './look-at-holds.js';

/** What is looked at at once, of each signer; the rest when these are seen. */
const HOLDS_PER_SIGNER = 100;
const UNUSED = 'its time was over, and nothing was sent with its nonce';
const UNPROVEN = 'its time was over, and not every endpoint says that nothing was sent with its nonce';

/** Writes what the chain says of holds whose transactions nobody names. */
@Injectable()
export class EndHolds {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly custody: Custody,
  ) {}

  async execute(leases: readonly Lease[], verdicts: readonly HoldVerdict[]): Promise<void> {
    // Where nobody signs a no-op, what is not proven stays as it is.
    const ending = verdicts.filter(({ kind, signer }) => kind !== 'unproven' || !this.custody.isExternal(signer));
    if (ending.length === 0) return;
    const said = new Map(ending.map((verdict) => [verdict.tx.id, verdict]));
    // Read again: their senders may have ended or extended them since, or have sent something.
    const read = await this.repository.byIds([...said.keys()]);
    const txs = read.filter((tx) => isWaiting(tx) && tx.progress.version === said.get(tx.id)?.tx.progress.version);
    const unused = txs.filter(({ id }) => said.get(id)?.kind === 'unused');
    for (const tx of txs) {
      if (unused.includes(tx)) tx.cancelled(UNUSED);
      // The chain decides between a no-op and what may be out.
      else if (said.get(tx.id)?.kind === 'unproven') tx.close('CANCELLED', UNPROVEN);
      else tx.usedByUnknown();
    }
    await this.write.execute(leases, 'tend_holds', {
      txs,
      slots: { released: unused.map(({ signer, nonce }) => ({ signer, nonce })) },
    });
  }
}

/**
 * Brings holds forward, which outside senders have: what they sent becomes an attempt, and is followed like our own; and what is over, and was not
 * used, gives its nonce back. Only in lanes that have begun: before that it is not known whether a payload of ours has the nonce (docs/invariants.md,
 * I16). The chain is asked before the workers, which others share.
 */
@Injectable()
export class TendHolds {
  constructor(
    private readonly leases: LeaseManager,
    private readonly inFlight: TxsInFlight,
    private readonly look: LookAtHolds,
    private readonly work: BegunWork,
    private readonly adopt: AdoptSent,
    private readonly end: EndHolds,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const signers = this.leases.heldOn(chainId).map(({ signer }) => signer.address);
    if (signers.length === 0) return;
    const holds = await this.inFlight.waitingHolds(chainId, signers, HOLDS_PER_SIGNER);
    const verdicts = await this.look.execute(chainId, holds);
    await this.work.run(chainId, verdicts, async (leases, share) => {
      for (const verdict of share) {
        const lease = leases.find(({ signer }) => signerKey(signer) === signerKey(verdict.signer));
        if (lease && verdict.kind === 'sent') await this.sent(lease, verdict);
      }
      await this.end.execute(
        leases,
        share.filter(({ kind }) => kind !== 'sent'),
      );
    });
  }

  /** It may be a payload of ours, whose commit the database lost. Reads the holder of the slot again. */
  private async sent(lease: Lease, { tx, sent }: Extract<HoldVerdict, { kind: 'sent' }>): Promise<void> {
    const next = tx.nonce + 1n;
    const outlook = {
      signer: tx.signer,
      cursor: next,
      open: [],
      inFlightFrom: tx.nonce,
      known: true,
      suspect: false,
      epoch: 0,
    };
    await this.adopt.execute(lease, new Findings(outlook, next, sent, 0n, true, false));
  }
}

function isWaiting({ isHold, state }: ManagedTx): boolean {
  return isHold && state === 'ALLOCATED';
}
