import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LeaseConfig, NodeConfig } from '../../../src/config/index.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { LeaseManager } from '../../../src/modules/signers/application/lease-manager.js';
import { type NodeKeys, Router } from '../../../src/modules/signers/application/router.js';
import { SignerDirectory } from '../../../src/modules/signers/domain/signer-directory.js';
import type { CustodiedSigner } from '../../../src/modules/signers/domain/custody.js';
import {
  type LeaseHolder,
  type LiveNode,
  type LiveNodes,
  type NodeEntry,
  NodeRegistry,
} from '../../../src/modules/signers/domain/node-registry.js';
import { LeaseHeartbeat } from '../../../src/modules/signers/infrastructure/lease-heartbeat.js';
import { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { ServingNodes } from '../../../src/platform/limits/serving-nodes.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aSigner } from '../../support/builders.js';
import { KeysOf, Named } from '../../support/fakes/fake-node.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { gate } from '../../support/gate.js';
import { readableLog } from '../platform/log-lines.js';

const [ALICE, BOB] = [aSigner(1), aSigner(2)];
/** What the config says by default. */
const RENEW_MS = 3_000;
const DURATION_MS = 10_000;

/** Everything that the heartbeat does, in order. */
let done: string[];
let nodes: LiveNode[];
let memberships: { nodes: readonly string[]; keys: NodeKeys | undefined }[];
let onRenew: () => Promise<void>;
let onRelease: () => Promise<void>;
let onMeet: () => Promise<void>;
let onRegister: () => Promise<void>;
let registry: RecordingRegistry;
let serving: ServingNodes;
let heartbeat: LeaseHeartbeat;

class RecordingRegistry extends NodeRegistry {
  readonly beats: [NodeEntry, number][] = [];

  async heartbeat(self: NodeEntry, windowMs: number): Promise<LiveNodes> {
    done.push('meet');
    this.beats.push([self, windowMs]);
    await onMeet();
    return { acting: nodes, serving: 3 };
  }

  async leave(nodeId: string): Promise<void> {
    done.push(`leave ${nodeId}`);
  }

  async forgetDead(): Promise<void> {
    done.push('forget the dead');
  }

  holderOf(): Promise<LeaseHolder | null> {
    return Promise.resolve(null);
  }
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance', 'queueMicrotask'] });
  [done, nodes, memberships] = [[], [], []];
  onRenew = onRelease = onMeet = onRegister = async () => undefined;
  registry = new RecordingRegistry();
  serving = new ServingNodes();
  heartbeat = heartbeatOf({});
});
afterEach(async () => {
  jest.useRealTimers();
  await heartbeat.leave();
});

function heartbeatOf(role: Partial<NodeConfig>): LeaseHeartbeat {
  const record = (what: string) => async (): Promise<void> => void done.push(what);
  return new LeaseHeartbeat(
    fakeOf(LeaseManager, {
      renewAll: () => (done.push('renew'), onRenew()),
      releaseAll: () => (done.push('release'), onRelease()),
    }),
    new KeysOf([ALICE, BOB]),
    fakeOf(SignerDirectory, {
      register: (signers: readonly CustodiedSigner[]) => (done.push(`register ${signers.length}`), onRegister()),
    }),
    registry,
    fakeOf(Router, { membership: (live, keys) => memberships.push({ nodes: live, keys }) }),
    new Named('me'),
    Object.assign(new NodeConfig(), role),
    new LeaseConfig(),
    fakeOf(DatabaseWatch, { check: record('check') }),
    serving,
    tickersWith(readableLog().log),
  );
}

/** One beat: the leases first, for they are what runs out. */
const BEAT = ['renew', 'meet', 'check'];
const START = ['check', 'register 2', 'meet', 'register 2'];

describe('the heartbeat', () => {
  it('sees that the database has an epoch, registers the signers and meets the other nodes before it renews anything', async () => {
    await heartbeat.onApplicationBootstrap();
    expect(done).toEqual(START);
  });

  it('does not begin before the signers are stored, and not at all when they cannot be', async () => {
    const refusal = new Error('no database');
    onRegister = () => Promise.reject(refusal);
    await expect(heartbeat.onApplicationBootstrap()).rejects.toBe(refusal);
    expect(done).toEqual(['check', 'register 2']);
  });

  it('leaves when it sees only beside the others that they have a signer otherwise', async () => {
    const refusal = new Error('the custody is another one at a node that runs');
    onRegister = async () => {
      if (done.includes('meet')) throw refusal;
    };
    await expect(heartbeat.onApplicationBootstrap()).rejects.toBe(refusal);
    await jest.advanceTimersByTimeAsync(RENEW_MS);
    expect(done).toEqual([...START, 'leave me']);
  });

  it('does not beat before the others have answered', async () => {
    const answer = gate();
    onMeet = () => answer.opened;
    const starting = begun();
    await jest.advanceTimersByTimeAsync(RENEW_MS);
    expect(done).toEqual(START.slice(0, 3));
    answer.open();
    await starting;
  });

  it('beats at once, and again when the interval has passed since the end of the last beat', async () => {
    await begun();
    expect(done).toEqual([...START, ...BEAT]);
    await jest.advanceTimersByTimeAsync(RENEW_MS - 1);
    expect(done).toEqual([...START, ...BEAT]);
    await jest.advanceTimersByTimeAsync(1);
    expect(done).toEqual([...START, ...BEAT, ...BEAT]);
  });

  it('renews three times within a lease, so that a beat may fail', async () => {
    await begun();
    await jest.advanceTimersByTimeAsync(DURATION_MS - 1);
    expect(done.filter((what) => what === 'renew')).toHaveLength(1 + Math.floor(DURATION_MS / RENEW_MS));
  });

  it('goes on after a renewal that failed', async () => {
    onRenew = () => Promise.reject(new Error('no database'));
    await begun();
    expect(done).toEqual([...START, 'renew']);
    onRenew = async () => undefined;
    await jest.advanceTimersByTimeAsync(RENEW_MS);
    expect(done).toEqual([...START, 'renew', ...BEAT]);
  });

  it('does not begin a beat while the last one waits for its answer', async () => {
    const answer = gate();
    onRenew = () => answer.opened;
    await begun();
    await jest.advanceTimersByTimeAsync(10 * RENEW_MS);
    expect(done).toEqual([...START, 'renew']);
    answer.open();
  });

  it('releases the leases, ends with the beat in flight, and only then leaves', async () => {
    const answer = gate();
    onRenew = () => answer.opened;
    await begun();
    const stopped = heartbeat.leave();
    answer.open();
    await stopped;
    expect(done).toEqual([...START, 'renew', 'release', 'meet', 'check', 'leave me']);
    await jest.advanceTimersByTimeAsync(10 * RENEW_MS);
    expect(done.at(-1)).toBe('leave me');
  });

  it('renews until the leases are released', async () => {
    const answer = gate();
    onRelease = () => answer.opened;
    await begun();
    const stopped = heartbeat.leave();
    await jest.advanceTimersByTimeAsync(RENEW_MS);
    expect(done).toEqual([...START, ...BEAT, 'release', ...BEAT]);
    answer.open();
    await stopped;
    expect(done.at(-1)).toBe('leave me');
  });

  it('ends and leaves where the leases cannot be released', async () => {
    onRelease = () => Promise.reject(new Error('no database'));
    await begun();
    await expect(heartbeat.leave()).rejects.toThrow('no database');
    expect(done).toEqual([...START, ...BEAT, 'release', 'leave me']);
    onRelease = async () => undefined;
    await jest.advanceTimersByTimeAsync(RENEW_MS);
    expect(done.at(-1)).toBe('leave me');
  });
});

describe('a node says of itself', () => {
  it('that it acts, for whom it can sign, and nothing of a URL that it does not have; it counts who was seen within a lease', async () => {
    await heartbeat.onApplicationBootstrap();
    const self = { nodeId: 'me', advertisedUrl: null, acts: true, serves: true, signers: [ALICE, BOB] };
    expect(registry.beats).toEqual([[self, DURATION_MS]]);
  });

  it('its URL, and that it does not act when it only serves the API', async () => {
    heartbeat = heartbeatOf({ role: 'api', advertisedUrl: 'http://me:8080' });
    await heartbeat.onApplicationBootstrap();
    expect(registry.beats[0]?.[0]).toMatchObject({ advertisedUrl: 'http://me:8080', acts: false, serves: true });
  });
});

it('how many nodes serve is what limits are shared by', async () => {
  await heartbeat.onApplicationBootstrap();
  expect(serving.shareOf(30)).toBe(10);
});

describe('the router learns', () => {
  const keysOf = (...signers: readonly SignerId[]): ReadonlySet<string> => new Set(signers.map(signerKey));

  it('who lives, who has which key, and who has the same keys as this node', async () => {
    const both = keysOf(ALICE, BOB);
    nodes = [
      { nodeId: 'a', signers: both },
      { nodeId: 'b', signers: keysOf(BOB) },
      { nodeId: 'me', signers: both },
      { nodeId: 'silent', signers: null },
    ];
    await heartbeat.onApplicationBootstrap();
    const [learned] = memberships;
    expect(learned?.nodes).toEqual(['a', 'b', 'me', 'silent']);
    expect(learned?.keys?.alike).toEqual(['a', 'me']);
    expect(['a', 'b', 'me', 'silent'].map((node) => learned?.keys?.canSign(node, ALICE))).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(learned?.keys?.canSign('b', BOB)).toBe(true);
  });
});

/** Started, and its first beat has gone as far as it can. */
async function begun(): Promise<void> {
  await heartbeat.onApplicationBootstrap();
  await jest.advanceTimersByTimeAsync(0);
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
