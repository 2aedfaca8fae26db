import { Injectable } from '@nestjs/common';
import type { ChainId, SignerId } from '../../src/kernel/signer-id.js';
import { JsonRpcEndpoint } from '../../src/modules/chain/infrastructure/rpc/json-rpc-endpoint.js';
import type { RpcReply, RpcRequest } from '../../src/modules/chain/infrastructure/rpc/json-rpc.js';
import { CommandStore, type TxCommand } from '../../src/modules/commands/domain/tx-command.js';
import { PgCommandStore } from '../../src/modules/commands/infrastructure/pg-command-store.js';
import { LostCommitsRepository, type SignerOutlook } from '../../src/modules/ledger/domain/lost-commits.repository.js';
import { SignersInDoubt } from '../../src/modules/lost-commits/application/signers-in-doubt.js';
import { PgLostCommitsRepository } from '../../src/modules/ledger/infrastructure/pg-lost-commits.repository.js';
import { EstimatePending, type Look } from '../../src/modules/lanes/application/estimate-pending.js';
import { ResendAttempts, type Resent } from '../../src/modules/lanes/application/resend-attempts.js';
import { type ChainConnector, Chains } from '../../src/modules/chain/index.js';
import { type ForeignSlot, ReassignNonces } from '../../src/modules/nonces/application/reassign-nonces.js';
import { BroadcastAttempts, callOf, RepricePayloads, SignNoOps } from '../../src/modules/sending/index.js';
import { Custody, type Lease } from '../../src/modules/signers/index.js';
import type { ClaimedDelivery, TryResult } from '../../src/modules/webhooks/domain/delivery.js';
import { type Claim, DeliveryQueue, type Recorded } from '../../src/modules/webhooks/domain/delivery-queue.js';
import { FanOutLog, type Match } from '../../src/modules/webhooks/domain/fan-out-log.js';
import { PgDeliveryQueue } from '../../src/modules/webhooks/infrastructure/pg-delivery-queue.js';
import { PgFanOutLog } from '../../src/modules/webhooks/infrastructure/pg-fan-out-log.js';
import type { Tx } from '../../src/kernel/unit-of-work.js';
import { PLAIN } from './play.js';
import { FeeRules } from '../../src/modules/sending/application/fee-rules.js';
import {
  AttemptRepository,
  type ManagedTx,
  ManagedTxRepository,
  type PendingTx,
} from '../../src/modules/ledger/index.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { AfterCommit } from '../../src/modules/ledger/application/writing/after-commit.js';
import { PostponeDue } from '../../src/modules/ledger/application/writing/postpone-due.js';
import { TxsInFlight } from '../../src/modules/ledger/domain/txs-in-flight.js';
import { PgTxsInFlight } from '../../src/modules/ledger/infrastructure/pg-txs-in-flight.js';
import { REAL_WIRE } from './node-chains.js';
import type { PlantedBug } from './planted-bug.js';

const FEW_POSTS = 8;

/** Looks only for nonces without any bytes: a bump, a cancel or a replacement that was lost is never found. */
@Injectable()
class BlindToFlight extends PgLostCommitsRepository {
  override async outlook(signers: readonly SignerId[]): Promise<SignerOutlook[]> {
    return (await super.outlook(signers)).map((outlook) => ({ ...outlook, inFlightFrom: null }));
  }
}

/** Takes whatever used a nonce, and is in no row, for a transaction of somebody else. */
@Injectable()
class NothingIsOurs extends ReassignNonces {
  protected override foreignAmong(_: readonly Lease[], uses: readonly ForeignSlot[]): Promise<ForeignSlot[]> {
    return Promise.resolve([...uses]);
  }
}

/** What waits was never sent, whatever the database lost. */
@Injectable()
class NobodyInDoubt extends SignersInDoubt {
  override among(): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set());
  }
}

/** A batch that has no answer is nobody's: no call of it is asked again. */
class SilentTogether extends JsonRpcEndpoint {
  override async ask(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    const replies = await super.ask(requests);
    const silent = replies.find((reply) => reply.kind === 'failed');
    return silent ? replies.map(() => silent) : replies;
  }
}

/** A write that failed did not happen. */
@Injectable()
class SureOfFailures extends AfterCommit {
  override inDoubt(): void {
    // Nothing is forgotten.
  }
}

/** Signs no no-op while the market asks for a higher tip than the caps allow. */
@Injectable()
class ProudNoOps extends FeeRules {
  override noOp(...of: Parameters<FeeRules['noOp']>): ReturnType<FeeRules['noOp']> {
    const [signer, quote] = of;
    return quote.tips.fast > this.capsFor(signer).maxPriorityFeePerGas ? null : super.noOp(...of);
  }
}

/** Sends the payload of a slot again that is to be closed and has no no-op yet. */
@Injectable()
class ResendsCancelled extends ResendAttempts {
  constructor(
    private readonly chainsToSend: Chains,
    repository: ManagedTxRepository,
    attempts: AttemptRepository,
    noOps: SignNoOps,
    reprice: RepricePayloads,
    private readonly sender: BroadcastAttempts,
    metrics: Metrics,
    custody: Custody,
  ) {
    super(chainsToSend, repository, attempts, noOps, reprice, sender, metrics, custody);
  }

  override async resend(chainId: ChainId, leases: readonly Lease[], txs: readonly ManagedTx[]): Promise<Resent> {
    const sends = (await this.inFlight(txs)).flatMap(({ tx, last }) =>
      tx.isClosing && last?.kind === 'payload' ? [{ tx, attempt: last }] : [],
    );
    if (sends.length > 0) await this.sender.execute(this.chainsToSend.get(chainId), leases, sends);
    return super.resend(chainId, leases, txs);
  }
}

/** Reads commands of the signer at the front of the list only. */
@Injectable()
class FrontOfCommands extends PgCommandStore {
  override async queued(chainId: ChainId, signers: readonly string[], perSigner: number): Promise<TxCommand[]> {
    return super.queued(chainId, [...signers].sort().slice(0, 1), perSigner);
  }
}

/** Estimates whatever waits in one batch, and nobody is sent while it has no answer. */
@Injectable()
class EstimatesTogether extends EstimatePending {
  override async execute(
    chain: ChainConnector,
    _pending: readonly PendingTx[],
    toAsk: readonly PendingTx[],
  ): Promise<ReadonlyMap<string, Look>> {
    const estimates = await chain.estimateGas(toAsk.map(({ request }) => callOf(request)));
    return new Map(
      toAsk.flatMap(({ tx }, i): [string, Look][] => {
        const gas = estimates[i];
        return gas ? [[tx.id, { gas, isProvenRevert: false, permits: 'right' }]] : [];
      }),
    );
  }
}

/** One event of a batch is forgotten. */
@Injectable()
class ForgetfulFanOut extends PgFanOutLog {
  override insert(tx: Tx, matches: readonly Match[]): Promise<void> {
    return super.insert(tx, matches.length > 1 ? matches.slice(1) : matches);
  }
}

/** All endpoints share few places. */
@Injectable()
class OneQueue extends PgDeliveryQueue {
  private posts = 0;

  override async claim(claim: Claim): Promise<readonly ClaimedDelivery[]> {
    const most = Math.min(claim.most, FEW_POSTS - this.posts);
    const claimed = most > 0 ? await super.claim({ ...claim, most }) : [];
    this.posts += claimed.length;
    return claimed;
  }

  override record(nodeId: string, results: readonly TryResult[]): Promise<readonly Recorded[]> {
    this.posts -= results.length;
    return super.record(nodeId, results);
  }
}

/** The same of resends. */
@Injectable()
class FrontOfResends extends PgTxsInFlight {
  override async dueForResubmit(chainId: ChainId, signers: readonly string[], perSigner: number): Promise<ManagedTx[]> {
    const all = await super.dueForResubmit(chainId, signers, perSigner);
    return all.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, 1);
  }
}

@Injectable()
class NeverPostponed extends PostponeDue {
  override async execute(): Promise<void> {
    // It is due as before.
  }
}

/** Faults that were found in the product once, and two of webhooks. */
export const FAIRNESS_BUGS: readonly PlantedBug[] = [
  {
    name: 'bumps that were lost, and are taken for transactions of somebody else',
    play: { mode: 'basic', leasesEnd: true, losesCommits: true, hasReceivers: false },
    sabotage: [
      [LostCommitsRepository, { provide: LostCommitsRepository, useClass: BlindToFlight }],
      [ReassignNonces, { provide: ReassignNonces, useClass: NothingIsOurs }],
    ],
    from: 326,
    shows: /^(I7|I8|I9|rule 23)/,
  },
  {
    name: 'a waiting tx that is changed while nobody knows whether it was sent',
    play: { mode: 'worker-queue', leasesEnd: true, losesCommits: true, asksAtOnce: true, hasReceivers: false },
    sabotage: [[SignersInDoubt, { provide: SignersInDoubt, useClass: NobodyInDoubt }]],
    from: 22,
    shows: /^I8: .* executed .*/,
  },
  {
    name: 'a heavy batch that is silent about all of its calls',
    wire: { ...REAL_WIRE, Endpoint: SilentTogether },
    sabotage: [[EstimatePending, { provide: EstimatePending, useClass: EstimatesTogether }]],
    shows: /^I8: .* stand still/,
  },
  {
    name: 'a write whose answer was lost, taken for one that did not happen',
    play: { ...PLAIN, mode: 'worker-queue', leasesEnd: false, unanswered: 'nonce_release' },
    from: 86,
    sabotage: [[AfterCommit, { provide: AfterCommit, useClass: SureOfFailures }]],
    shows: /^(I7|I8)/,
  },
  {
    name: 'no-ops that are not signed above the tip cap, while the payload is sent again',
    sabotage: [
      [FeeRules, { provide: FeeRules, useClass: ProudNoOps }],
      [ResendAttempts, { provide: ResendAttempts, useClass: ResendsCancelled }],
    ],
    shows: /^I6: .* is cancelled$/,
  },
  {
    name: 'commands that are read of the first signer only',
    sabotage: [[CommandStore, { provide: CommandStore, useClass: FrontOfCommands }]],
    from: 8,
    shows: /^(F1: command|I8: command)/,
  },
  {
    name: 'resends that are read from the front of one queue',
    sabotage: [
      [TxsInFlight, { provide: TxsInFlight, useClass: FrontOfResends }],
      [PostponeDue, { provide: PostponeDue, useClass: NeverPostponed }],
    ],
    from: 46,
    shows: /^(F1: resend|I8)/,
  },
  {
    name: 'a webhook that is forgotten',
    play: { ...PLAIN, hasReceivers: true },
    sabotage: [[FanOutLog, { provide: FanOutLog, useClass: ForgetfulFanOut }]],
    shows: /^F1: webhook/,
  },
  {
    name: 'webhook endpoints that share few places',
    play: { ...PLAIN, hasReceivers: true },
    sabotage: [[DeliveryQueue, { provide: DeliveryQueue, useClass: OneQueue }]],
    shows: /^F1: webhook/,
  },
];
