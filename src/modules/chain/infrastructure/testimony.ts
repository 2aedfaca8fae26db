import type { Witnesses } from '../domain/evidence.js';
import type { Pause } from '../../../platform/scheduling/pause.js';
import { failed, type RpcReply, type RpcRequest } from './json-rpc.js';
import { within } from './grace.js';
import type { PoolMember } from './pool-member.js';

/** What one endpoint of the right chain says for itself. All replies of a silent one are failures. */
export interface Testimony {
  readonly replies: readonly RpcReply[];
  /** Neither behind nor ahead of the others, as far as known. */
  readonly isCurrent: boolean;
}

const SILENT = { reason: 'unreachable', mayHaveArrived: false, message: 'the endpoint stayed silent' } as const;

/** @returns null for an endpoint of another chain: it is no witness */
export async function testimonyOf(
  member: PoolMember,
  requests: readonly RpcRequest[],
  witnesses: Witnesses,
  time: { readonly now: number; readonly pause: Pause },
): Promise<Testimony | null> {
  const { health } = member;
  const isAway = health.availableAt > time.now;
  const silence = requests.map(() => failed(SILENT));
  let replies: readonly RpcReply[];
  if (health.isElsewhere || (isAway && health.mustWait)) replies = silence;
  else if (isAway && witnesses === 'speakers')
    replies = await within(time.pause, answersOf(member, requests, silence), silence);
  else replies = await answersOf(member, requests, silence);
  return health.isElsewhere ? null : { replies, isCurrent: !health.lagging && !health.ahead };
}

async function answersOf(
  member: PoolMember,
  requests: readonly RpcRequest[],
  silence: readonly RpcReply[],
): Promise<readonly RpcReply[]> {
  return (await member.isVerified()) ? member.ask(requests) : silence;
}
