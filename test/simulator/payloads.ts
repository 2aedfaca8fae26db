import { NODE_ERROR_CLASSES, type NodeErrorClass } from '../../src/kernel/node-error-class.js';
import { actionOf } from '../../src/modules/chain/index.js';
import type { TxRequest } from '../../src/modules/ledger/domain/tx-request.js';
import type { CurseStart } from './network/curses.js';
import { wordsOf } from './network/refusal-texts.js';
import type { World } from './world.js';

/** Not about a payload: about the endpoint, the call, or an answer that is no error. */
const NOT_OF_A_PAYLOAD: ReadonlySet<NodeErrorClass> = new Set(['rate_limited', 'method_unsupported', 'hash_mismatch']);
const REFUSALS = NODE_ERROR_CLASSES.filter(
  (each) => actionOf(each).outcome !== 'accepted' && !NOT_OF_A_PAYLOAD.has(each),
);
/** A node that calls a nonce used, a price too low for a replacement, or an account full, does so because of what it has; that ends. */
const LASTING = REFUSALS.filter((each) => !['check_receipts', 'limit_in_flight'].includes(actionOf(each).response));
const STARTS: readonly CurseStart[] = [
  'at once',
  'at once',
  'after a time-out',
  'after it was accepted',
  'after it was kept',
];

/** At times something is wrong with what is asked for. */
export function afflict(world: World, { signer, payload }: Pick<TxRequest, 'signer' | 'payload'>): void {
  const { random, network } = world;
  const { data } = payload;
  const kind = random.weighted([
    { weight: 70, value: 'nothing' },
    { weight: 6, value: 'reverts in its block' },
    { weight: 3, value: 'reverts always' },
    { weight: 6, value: 'needs another' },
    { weight: 3, value: 'hangs' },
    { weight: network.isPicky ? 120 : 15, value: 'refused' },
  ] as const);
  if (kind === 'reverts in its block') network.chain.reverting.add(data);
  if (kind === 'reverts always') network.needs.add(data, null);
  if (kind === 'needs another') {
    const own = world.snapshot.txs.filter(
      ({ signer: of, state, kind: what }) => of === signer.address && isUnderWay(state) && what !== 'hold',
    );
    if (own.length > 0) network.needs.add(data, random.pick(own).data);
  }
  if (kind === 'hangs') network.hanging.add(data);
  if (kind === 'refused') refuse(world, data);
  if (kind !== 'nothing') world.note(`payload ${data}: ${kind}`);
}

function isUnderWay(state: string): boolean {
  return state === 'ALLOCATED' || state === 'IN_MEMPOOL';
}

function refuse(world: World, data: string): void {
  const { random, network } = world;
  const isLasting = random.chance(0.5);
  const words = wordsOf(random.pick(isLasting ? LASTING : REFUSALS), random);
  const start = random.pick(STARTS);
  const only = network.endpoints.length > 1 && random.chance(0.3) ? random.pick(network.endpoints).index : null;
  world.note(
    `${words.class} (${words.message}) ${start}, ${isLasting ? 'for ever' : 'at times'}, ${only === null ? 'by all' : `by endpoint ${only}`}`,
  );
  network.curses.add(data, { words, start, times: isLasting ? Infinity : random.between(1, 5), only });
}
