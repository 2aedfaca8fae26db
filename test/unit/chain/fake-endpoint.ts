import type { Clock } from '../../../src/kernel/clock.js';
import type { RpcReply, RpcRequest } from '../../../src/modules/chain/infrastructure/rpc/json-rpc.js';
import { PoolMember } from '../../../src/modules/chain/infrastructure/rpc/pool-member.js';
import type { RpcEndpoint } from '../../../src/modules/chain/infrastructure/rpc/rpc-endpoint.js';
import { RecordingLog } from './chain-fixture.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';

export const CHAIN = 7;

/** Answers each request with its own name, at once by default. */
export class FakeEndpoint implements RpcEndpoint {
  chainId = CHAIN;
  /** Instead of its name. */
  reply: RpcReply | null = null;
  isHung = false;
  questions = 0;
  private gate: Promise<void> = Promise.resolve();

  constructor(readonly label: string) {}

  async ask(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    if (requests[0]?.method === 'eth_chainId') return [{ kind: 'result', value: `0x${this.chainId.toString(16)}` }];
    this.questions += 1;
    if (this.isHung) return new Promise(() => undefined);
    await this.gate;
    return requests.map(() => this.reply ?? { kind: 'result', value: this.label });
  }

  /** @returns a function that lets it answer */
  holdsBack(): () => void {
    let open: () => void = () => undefined;
    this.gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  askInOrder(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    return this.ask(requests);
  }

  async close(): Promise<void> {}
}

export function aMember(endpoint: RpcEndpoint, clock: Clock): PoolMember {
  const metrics = new FakeMetrics();
  return new PoolMember(endpoint, {
    chainId: CHAIN,
    errorPatterns: [],
    maxLag: 5,
    metrics,
    clock,
    log: new RecordingLog(),
  });
}
