import type { Clock } from '../../../../kernel/clock.js';
import type { ChainId } from '../../../../kernel/signer-id.js';
import { assertOutsideTransaction } from '../../../../platform/database/transaction-scope.js';
import type { Log } from '../../../../platform/logging/log.js';
import type { Metrics } from '../../../../platform/metrics/metrics.js';
import { type Pause, realPause } from '../../../../platform/scheduling/pause.js';
import type { EndpointStatus } from '../../domain/endpoint-status.js';
import { type Decision, EVIDENCE } from '../../domain/evidence.js';
import type { ErrorPattern } from '../../domain/node-error-table.js';
import { EndpointSelection } from './endpoint-selection.js';
import { FailoverReads } from './failover-reads.js';
import { HeadComparison } from './head-comparison.js';
import { type EndpointAnswer, QuorumReads } from './quorum-reads.js';
import type { RpcFailure, RpcReply, RpcRequest } from './json-rpc.js';
import { PoolMember } from './pool-member.js';
import type { RpcEndpoint } from './rpc-endpoint.js';
import { SendsToAll } from './sends-to-all.js';

export interface RpcPoolOptions {
  readonly chainId: ChainId;
  /** In order of preference. */
  readonly endpoints: readonly RpcEndpoint[];
  readonly errorPatterns: readonly ErrorPattern[];
  /** Longest wait for an endpoint that asked us to wait, when no other is available. Milliseconds. */
  readonly maxWaitMs: number;
  /** Blocks an endpoint may be behind the best head before the others are preferred. */
  readonly maxLag: number;
  /** How to wait; real time by default. */
  readonly pause?: Pause;
}

/** The endpoints of one chain. A read goes to the best endpoint and fails over, a quorum read and a send go to all endpoints. */
export class RpcPool {
  readonly chainId: ChainId;
  private readonly members: readonly PoolMember[];
  private readonly heads: HeadComparison;
  private readonly selection: EndpointSelection;
  private readonly reads: FailoverReads;
  private readonly quorumReads: QuorumReads;
  private readonly sends: SendsToAll;

  constructor(
    options: RpcPoolOptions,
    metrics: Metrics,
    private readonly clock: Clock,
    log: Log,
  ) {
    const { endpoints, pause = realPause, maxWaitMs, ...shared } = options;
    this.chainId = options.chainId;
    const noEndpoint = (): RpcFailure => this.noUsableEndpoint();
    this.members = endpoints.map((endpoint) => new PoolMember(endpoint, { ...shared, metrics, clock, log }));
    this.heads = new HeadComparison(this.members, clock, pause, options.maxLag);
    this.selection = new EndpointSelection(this.members, this.heads, clock, pause, maxWaitMs);
    const candidates = (): Promise<PoolMember[]> => this.selection.candidates();
    this.reads = new FailoverReads({ errorPatterns: options.errorPatterns, maxWaitMs, candidates, noEndpoint }, clock);
    this.quorumReads = new QuorumReads(this.members, pause);
    this.sends = new SendsToAll(this.members, pause, noEndpoint);
  }

  /** See {@link FailoverReads.read}. */
  async read(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    this.assertMayCall(requests);
    return this.reads.read(requests);
  }

  /**
   * Sends to every endpoint of the right chain, also to endpoints that are not used for reads, in the given order. One promise per
   * endpoint, so that the caller need not wait for the slowest one. An endpoint of another chain gives no replies; the result is empty
   * when there is no endpoint.
   */
  async sendToAll(requests: readonly RpcRequest[]): Promise<Promise<RpcReply[]>[]> {
    this.assertMayCall(requests);
    const sends = this.sends.toAll(requests, this.clock.monotonicMs());
    if (sends.length > 0) return sends;
    return (await this.selection.candidates()).map((member) => this.sends.toOne(member, requests));
  }

  /** With one endpoint no other one can contradict it. */
  get hasOneEndpoint(): boolean {
    return this.members.length === 1;
  }

  /** The answer of every endpoint of the right chain, also of endpoints that are not used for reads, as the decision needs them. */
  async answers(decision: Decision, requests: readonly RpcRequest[]): Promise<EndpointAnswer[]> {
    this.assertMayCall(requests);
    if (this.hasOneEndpoint) return [{ replies: await this.read(requests), isCurrent: true }];
    await this.heads.refresh();
    return this.quorumReads.read(requests, EVIDENCE[decision].quorum, this.clock.monotonicMs());
  }

  status(): EndpointStatus[] {
    return this.members.map((member) => member.status());
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.close()));
  }

  private noUsableEndpoint(): RpcFailure {
    const states = this.status().map(
      ({ endpoint, state, lastError }) => `${endpoint} ${state}${lastError === null ? '' : ` (${lastError})`}`,
    );
    return { reason: 'unreachable', mayHaveArrived: false, message: `no usable endpoint: ${states.join(', ')}` };
  }

  private assertMayCall(requests: readonly RpcRequest[]): void {
    assertOutsideTransaction(requests[0]?.method ?? 'an RPC call');
  }
}
