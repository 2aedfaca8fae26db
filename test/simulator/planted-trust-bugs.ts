import { ResubmitConfig } from '../../src/config/index.js';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../src/kernel/clock.js';
import type { ChainId, Nonce, SignerId } from '../../src/kernel/signer-id.js';
import type { ChainConnector, FinalHeights } from '../../src/modules/chain/index.js';
import type { HttpPost } from '../../src/modules/chain/infrastructure/rpc/http-post.js';
import { JsonRpcEndpoint } from '../../src/modules/chain/infrastructure/rpc/json-rpc-endpoint.js';
import { failed, type RpcReply, type RpcRequest } from '../../src/modules/chain/infrastructure/rpc/json-rpc.js';
import { matchAnswers } from '../../src/modules/chain/infrastructure/rpc/match-answers.js';
import type { PoolMember } from '../../src/modules/chain/infrastructure/rpc/pool-member.js';
import type { RpcEndpoint } from '../../src/modules/chain/infrastructure/rpc/rpc-endpoint.js';
import { RpcPool } from '../../src/modules/chain/infrastructure/rpc/rpc-pool.js';
import { httpFailure, transportFailure } from '../../src/modules/chain/infrastructure/rpc/transport-failure.js';
import { Finalizer } from '../../src/modules/confirmations/application/finalizer.js';
import { type Lease, slotKey } from '../../src/modules/signers/index.js';
import { type Alignment, AlignNonces } from '../../src/modules/nonces/application/align-nonces.js';
import { type HoldVerdict, LookAtHolds } from '../../src/modules/nonces/application/look-at-holds.js';
import { type Search, SearchListings } from '../../src/modules/nonces/application/search-listings.js';
import { LearnPoolLimits, RefusalEvidence } from '../../src/modules/sending/application/refusal-evidence.js';
import { FeeRules } from '../../src/modules/sending/application/fee-rules.js';
import { ClassifySends } from '../../src/modules/sending/application/classify-sends.js';
import type { AnsweredSend, ClassifiedSend } from '../../src/modules/sending/application/send.js';
import { AttemptRepository } from '../../src/modules/ledger/domain/attempt.repository.js';
import type { WaitingHold } from '../../src/modules/ledger/index.js';
import type { PlantedBug } from './planted-bug.js';
import { REAL_WIRE } from './node-chains.js';
import { PLAIN } from './play.js';

const SOON_MS = 2_000;

/** Lets the endpoint that is read from speak for all. */
class OneWitness extends RpcPool {
  override async answers(
    _decision: Parameters<RpcPool['answers']>[0],
    requests: readonly RpcRequest[],
  ): ReturnType<RpcPool['answers']> {
    return [{ replies: await this.read(requests), isCurrent: true }];
  }
}

/** Ends holds by the clock alone. */
@Injectable()
class HoldsByTheClock extends LookAtHolds {
  override async execute(_chainId: ChainId, holds: readonly WaitingHold[]): Promise<HoldVerdict[]> {
    return holds.flatMap(({ tx, isOver }) => (isOver ? [{ tx, signer: tx.signer, kind: 'unused' }] : []));
  }
}

/** Says at once that no block lists ours: the search is a second proof, and keeps most nonces that one endpoint alone calls used. */
@Injectable()
class BlindSearch extends SearchListings {
  override execute(_chain: unknown, searches: readonly Search[]): Promise<ReadonlyMap<string, null>> {
    return Promise.resolve(new Map(searches.map(({ slot }) => [slotKey(slot), null])));
  }
}

/** Whoever is not near the highest head that anybody tells is late. */
class HighestHead {
  constructor(private readonly members: readonly PoolMember[]) {}

  async refresh(): Promise<void> {
    const heads = await Promise.all(
      this.members.map(async (member) => ((await member.isVerified()) ? await member.blockNumber() : null)),
    );
    const best = Math.max(...heads.map((head) => head ?? 0));
    this.members.forEach(({ health }, index) => {
      const head = heads[index];
      if (head !== null && head !== undefined) health.setHeadPosition({ lag: best - head, isAhead: false });
    });
  }
}

class PoolOfTheHighest extends RpcPool {
  constructor(...of: ConstructorParameters<typeof RpcPool>) {
    super(...of);
    const heads = new HighestHead(Reflect.get(this, 'members'));
    Reflect.set(this, 'heads', heads);
    Reflect.set(Reflect.get(this, 'selection') as object, 'heads', heads);
  }
}

/** Counts depth from the head as it was told. */
class DepthAsTold extends Finalizer {
  protected override provenHeights(
    chainId: ChainId,
    _signers: readonly SignerId[],
    head: number,
  ): Promise<FinalHeights | null> {
    return this.heights(chainId, head);
  }
}

/** Takes one transaction count for the next nonce. */
@Injectable()
class OneCount {
  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<Alignment> {
    const counts: readonly Nonce[] = await chain.transactionCounts(
      leases.map(({ signer }) => signer.address),
      'latest',
    );
    return { nonces: leases.map(({ signer }, i) => ({ signer, nonce: counts[i] ?? 0n })), held: new Set() };
  }
}

type JudgeParts = ConstructorParameters<typeof ClassifySends>;
type JudgePartsBesidesConfig = [JudgeParts[0], JudgeParts[1], JudgeParts[2], JudgeParts[3], JudgeParts[5]];
const JUDGE_PARTS = [AttemptRepository, RefusalEvidence, FeeRules, LearnPoolLimits, Clock] as const;

/** Never gives up. */
function patientJudge(...parts: unknown[]): ClassifySends {
  const [attempts, evidence, fees, limits, clock] = parts as JudgePartsBesidesConfig;
  return new ClassifySends(
    attempts,
    evidence,
    fees,
    limits,
    Object.assign(new ResubmitConfig(), { maxRefusals: Infinity, maxRefusalsInDoubt: Infinity }),
    clock,
  );
}

/** Takes what was accepted once for something that will be mined, whatever is said of it later. */
class TrustingJudge extends ClassifySends {
  override async execute(chain: ChainConnector, answered: readonly AnsweredSend[]): Promise<ClassifiedSend[]> {
    const judged = await super.execute(chain, answered);
    return judged.map((send): ClassifiedSend => {
      if (send.verdict.kind !== 'refused' || send.outcome.status !== 'ACCEPTED') return send;
      const verdict = { kind: 'sent', subState: null, askReceipt: false, retryInMs: SOON_MS, counts: false } as const;
      return { ...send, verdict };
    });
  }
}

function trustingJudge(...parts: unknown[]): ClassifySends {
  const [attempts, evidence, fees, limits, clock] = parts as JudgePartsBesidesConfig;
  return new TrustingJudge(
    attempts,
    evidence,
    fees,
    limits,
    Object.assign(new ResubmitConfig(), { maxRefusals: 3, maxRefusalsInDoubt: 3 }),
    clock,
  );
}

/** Sends a batch as it is, whatever was said of the last one. */
class WholeBatches implements RpcEndpoint {
  readonly label: string;
  private readonly http: HttpPost | undefined;
  private lastId = 0;

  constructor(...[options, http]: ConstructorParameters<typeof JsonRpcEndpoint>) {
    this.label = options.url;
    this.http = http;
  }

  async ask(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    const calls = requests.map(({ method, params }) => ({ jsonrpc: '2.0', id: ++this.lastId, method, params }));
    const ids = calls.map(({ id }) => id);
    try {
      const answer = await this.http?.post(JSON.stringify(calls.length === 1 ? calls[0] : calls));
      if (answer?.statusCode === 200) return matchAnswers(ids, JSON.parse(answer.text));
      const failure = httpFailure(answer?.statusCode ?? 0, answer?.retryAfter, answer?.text ?? '', 0);
      return ids.map(() => failed(failure));
    } catch (error) {
      const failure = transportFailure(error);
      return ids.map(() => failed(failure));
    }
  }

  askInOrder(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    return this.ask(requests);
  }

  async close(): Promise<void> {
    await this.http?.close();
  }
}

/** Whom to believe, and when to give up: each of these stood in the product once. */
export const TRUST_BUGS: readonly PlantedBug[] = [
  {
    name: 'a hold that expires without a look',
    sabotage: [[LookAtHolds, { provide: LookAtHolds, useClass: HoldsByTheClock }]],
    play: { ...PLAIN, hasOutside: true },
    from: 1,
    shows: /^I16: (nonce|hold)/,
  },
  {
    name: 'one endpoint that speaks for all about a nonce',
    wire: { ...REAL_WIRE, Pool: OneWitness },
    sabotage: [[SearchListings, { provide: SearchListings, useClass: BlindSearch }]],
    focus: 'nonces without us',
    from: 225,
    shows: /^(I8: payload|rule 23)/,
  },
  {
    name: 'the highest head of all as the best one',
    wire: { ...REAL_WIRE, Pool: PoolOfTheHighest },
    sabotage: [[Finalizer, { provide: Finalizer, useClass: DepthAsTold }]],
    focus: 'ahead',
    from: 66,
    shows: /^I9: .* too early/,
  },
  {
    name: 'a cursor raised by one transaction count',
    sabotage: [[AlignNonces, { provide: AlignNonces, useClass: OneCount }]],
    focus: 'counts',
    from: 105,
    shows: /^I13: the cursor/,
  },
  {
    name: 'a payload that is refused for ever and never given up',
    from: 24,
    sabotage: [[ClassifySends, { provide: ClassifySends, useFactory: patientJudge, inject: JUDGE_PARTS }]],
    shows: /^I8: .* stand still, .*refused with/,
  },
  {
    name: 'a slot that is never closed once its payload was accepted',
    from: 51,
    sabotage: [[ClassifySends, { provide: ClassifySends, useFactory: trustingJudge, inject: JUDGE_PARTS }]],
    shows: /^I8: .* stand still, .*refused with/,
  },
  {
    name: 'a batch that is never split',
    from: 12,
    wire: { ...REAL_WIRE, Endpoint: WholeBatches },
    shows: /^I8: .* stand still/,
  },
];
