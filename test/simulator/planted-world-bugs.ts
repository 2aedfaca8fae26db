import type { ForeignUse } from '../../src/modules/nonces/application/foreign-nonces.js';
import { Chains } from '../../src/modules/chain/domain/chain-connector.js';
import { Injectable } from '@nestjs/common';
import { ChainFeesConfig, ConfirmationsConfig, ResubmitConfig } from '../../src/config/index.js';
import type { Hash } from '../../src/kernel/hex.js';
import type { ChainId } from '../../src/kernel/signer-id.js';
import {
  actionOf,
  type BlockRef,
  BlockStore,
  type ChainConnector,
  type FinalHeights,
  FinalityRule,
  VerifiedReceipts,
} from '../../src/modules/chain/index.js';
import { PgBlockStore } from '../../src/modules/chain/infrastructure/pg-block-store.js';
import { ReopenFinal } from '../../src/modules/confirmations/application/reopen-final.js';
import { type Lease, slotKey, type SlotRef } from '../../src/modules/signers/index.js';
import { ChainRules } from '../../src/modules/chain/application/chain-rules.js';
import { ClassifySends } from '../../src/modules/sending/application/classify-sends.js';
import type { AnsweredSend, ClassifiedSend } from '../../src/modules/sending/application/send.js';
import { AttemptRepository } from '../../src/modules/ledger/domain/attempt.repository.js';
import { RecordSends } from '../../src/modules/sending/application/record-sends.js';
import { type Attempt, ManagedTx, ManagedTxRepository, WriteChanges } from '../../src/modules/ledger/index.js';
import { Log } from '../../src/platform/logging/log.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { type SlotInDoubt, ForeignNonces } from '../../src/modules/nonces/index.js';
import { PgAttemptRepository } from '../../src/modules/ledger/infrastructure/pg-attempt.repository.js';
import { PLAIN } from './play.js';
import type { PlantedBug } from './planted-bug.js';

/** What is final stays as it is. */
@Injectable()
class NeverReopens {
  isWaiting(): boolean {
    return false;
  }

  async execute(): Promise<void> {
    // Nobody looks at what a reorg did to it.
  }
}

/** Stores blocks only when all that they change is written. */
@Injectable()
class StoredInTheEnd extends PgBlockStore {
  override async begin(): Promise<BlockRef[]> {
    return [];
  }
}

/** Knows of each slot what was signed last, and forgets what that was to replace. */
@Injectable()
class NewestAttempts extends PgAttemptRepository {
  override async ofSlots(slots: readonly SlotRef[]): Promise<Attempt[]> {
    return [...new Map((await super.ofSlots(slots)).map((attempt) => [slotKey(attempt), attempt])).values()];
  }

  override async byHashes(chainId: ChainId, hashes: readonly Hash[]): Promise<Attempt[]> {
    const found = await super.byHashes(chainId, hashes);
    const newest = new Set((await this.ofSlots(found)).map(({ txHash }) => txHash));
    return found.filter(({ txHash }) => newest.has(txHash));
  }
}

/** Takes a nonce that was passed for one of somebody else when there is no receipt of ours. */
@Injectable()
class TakenAtFirstSight {
  constructor(private readonly chains: Chains) {}

  async usedForGood<Doubt extends SlotInDoubt>(
    chainId: ChainId,
    doubts: readonly Doubt[],
  ): Promise<ForeignUse<Doubt>[]> {
    const uses = await this.chains
      .get(chainId)
      .nonceUses(doubts.map(({ slot, hashes }) => ({ account: slot.signer.address, nonce: slot.nonce, hashes })));
    return doubts.flatMap((doubt, index) => {
      const kind = uses[index]?.kind;
      return kind === 'passed' || kind === 'ours' ? [{ ...doubt, usedBy: null }] : [];
    });
  }

  ownBlock(): null {
    return null;
  }

  searchStop(): null {
    return null;
  }
}

/** A block has the receipts of all of its transactions. */
@Injectable()
class CompleteBlocks extends VerifiedReceipts {
  override async ofBlock(
    ...[chain, block, hashes]: Parameters<VerifiedReceipts['ofBlock']>
  ): ReturnType<VerifiedReceipts['ofBlock']> {
    const found = await super.ofBlock(chain, block, hashes);
    const answer = hashes.length > 1 ? await chain.blockReceipts(block) : null;
    if (answer && hashes.some((hash) => !found.has(hash))) throw new TypeError('a receipt is missing in its block');
    return found;
  }
}

/** By depth, whatever the config says. */
@Injectable()
class OnlyDepth extends FinalityRule {
  override async heights(_chain: Pick<ChainConnector, 'chainId' | 'taggedHead'>, head: number): Promise<FinalHeights> {
    return { byRule: head - 1, head, ceiling: head };
  }
}

/** The caps of the config are those of another chain. */
@Injectable()
class DefaultCaps extends ChainRules {
  override feeCaps(): ChainFeesConfig {
    return new ChainFeesConfig();
  }
}

/** Fails for want of funds. */
@Injectable()
class StingyJudge extends ClassifySends {
  override async execute(chain: ChainConnector, answered: readonly AnsweredSend[]): Promise<ClassifiedSend[]> {
    const judged = await super.execute(chain, answered);
    return judged.map((send): ClassifiedSend => {
      const { errorClass, error } = send.outcome;
      if (send.verdict.kind !== 'waiting' || errorClass === null) return send;
      if (actionOf(errorClass).response !== 'wait_for_funds') return send;
      return { ...send, verdict: { kind: 'refused', as: 'FAILED', reason: error ?? 'refused' } };
    });
  }
}

/** Takes a refusal for the last word: ends the payload, and gives its nonce to others. */
@Injectable()
class HastyRecords extends RecordSends {
  constructor(
    private readonly door: WriteChanges,
    repository: ManagedTxRepository,
    resubmit: ResubmitConfig,
    confirmations: ConfirmationsConfig,
    metrics: Metrics,
    log: Log,
  ) {
    super(door, repository, resubmit, confirmations, metrics, log);
  }

  override async execute(leases: readonly Lease[], sends: readonly ClassifiedSend[]): Promise<ManagedTx[]> {
    const refused = sends.filter(({ verdict }) => verdict.kind === 'refused');
    const txs = refused.map(({ tx, outcome: { error } }) => {
      const copy = ManagedTx.rehydrate({ ...tx.progress, state: 'ALLOCATED' });
      copy.failed(error ?? 'refused');
      return copy;
    });
    await this.door.execute(leases, 'record', {
      attempts: { answered: refused.map(({ outcome }) => outcome) },
      slots: { released: refused.map(({ attempt }) => attempt) },
      txs,
    });
    return super.execute(
      leases,
      sends.filter((send) => !refused.includes(send)),
    );
  }
}

/** What the product must survive of the world: each of these does not. */
export const WORLD_BUGS: readonly PlantedBug[] = [
  {
    name: 'finals that no reorg opens again',
    from: 19,
    sabotage: [[ReopenFinal, { provide: ReopenFinal, useClass: NeverReopens }]],
    shows: /^I9: .*(by a block that is gone|has not used it)/,
  },
  {
    name: 'blocks that nobody remembers when they were applied and not stored',
    from: 41084,
    play: { ...PLAIN, hasReceivers: true },
    sabotage: [[BlockStore, { provide: BlockStore, useClass: StoredInTheEnd }]],
    shows: /^I9: .*by a block that is gone/,
  },
  {
    name: 'attempts that are forgotten when another one is signed',
    from: 76,
    sabotage: [[AttemptRepository, { provide: AttemptRepository, useClass: NewestAttempts }]],
    shows: /^(I7|I8|I9|rule 23)/,
  },
  {
    name: 'a receipt that is not there yet, taken for one that never comes',
    from: 2,
    sabotage: [[ForeignNonces, { provide: ForeignNonces, useClass: TakenAtFirstSight }]],
    shows: /^(I8|rule 23)/,
  },
  {
    name: 'blocks that are taken to have all their receipts',
    from: 270,
    sabotage: [[VerifiedReceipts, { provide: VerifiedReceipts, useClass: CompleteBlocks }]],
    shows: /a receipt is missing/,
  },
  {
    name: 'finality by depth where the tag is asked for',
    sabotage: [[FinalityRule, { provide: FinalityRule, useClass: OnlyDepth }]],
    shows: /^I9: .* too early/,
  },
  {
    name: 'fees above the caps',
    from: 5,
    sabotage: [[ChainRules, { provide: ChainRules, useClass: DefaultCaps }]],
    shows: /^I13: .* above the cap/,
  },
  {
    name: 'a payload that fails for want of funds',
    from: 184,
    sabotage: [[ClassifySends, { provide: ClassifySends, useClass: StingyJudge }]],
    shows: /^I13: .*not every node would refuse it/,
  },
  {
    name: 'a refusal that ends a payload which a pool has kept',
    from: 18,
    sabotage: [[RecordSends, { provide: RecordSends, useClass: HastyRecords }]],
    shows: /^(I6: .* without a block|I8|rule 23|internal)/,
  },
];
