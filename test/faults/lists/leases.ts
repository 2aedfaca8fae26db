import { faultsIn, int } from '../fault.js';

const LEASE_STORE = int('lease-store');
const FENCE = int('integration/fence.int');

const STORE = faultsIn('modules/signers/infrastructure/pg-lease-store.ts', LEASE_STORE, [
  {
    id: 'lease-acquire-own-that-ran-out',
    text: `WHERE l.owner_node = $3 AND l.expires_at > clock_timestamp()),`,
    becomes: 'WHERE l.owner_node = $3),',
    why: 'a lease that ran out is given again under its old token',
  },
  {
    id: 'lease-acquire-same-token',
    text: 'fencing_token = l.fencing_token + 1',
    becomes: 'fencing_token = l.fencing_token',
    why: 'the writes of the last owner pass the fence of the next one (I3)',
  },
  {
    id: 'lease-acquire-without-allowance',
    text: `ELSE $5::float8 * interval '1 ms' END`,
    becomes: `ELSE interval '0' * $5::float8 END`,
    why: 'a lease is taken from a node whose clock runs slow while it still trusts it',
    caughtBy: int('lease-conflict'),
  },
  {
    id: 'lease-acquire-held-by-another',
    text: ' AND ${TAKEABLE_AT} <= clock_timestamp()',
    becomes: '',
    why: 'of two nodes that take a lease at once both get it, one after the other',
  },
  {
    id: 'lease-acquire-locks-busy-leases',
    text: 'AND ${TAKEABLE_AT} > clock_timestamp())',
    becomes: `AND l.expires_at = 'infinity')`,
    why: 'a node that asks in vain makes the writers of the owner wait',
  },
  {
    id: 'lease-acquire-in-any-order',
    text: 'ORDER BY 1, 2 FOR NO KEY UPDATE OF l',
    becomes: 'ORDER BY 2 FOR NO KEY UPDATE OF l',
    why: 'two nodes that want the same leases deadlock',
    caughtBy: int('lock-order'),
  },
  {
    id: 'lease-acquire-new-ones-in-any-order',
    text: `> clock_timestamp())
       ORDER BY 1, 2),`,
    becomes: '> clock_timestamp())),',
    why: 'two nodes that want the same new signers deadlock',
  },
  {
    id: 'lease-acquire-by-one-index',
    text: '          ON CONFLICT DO NOTHING',
    becomes: '          ON CONFLICT (chain_id, signer) DO NOTHING',
    why: 'of two nodes that take a first lease at once one fails',
  },
  {
    id: 'lease-acquire-stays-idle',
    text: 'updated_at = clock_timestamp(), idle = false',
    becomes: 'updated_at = clock_timestamp()',
    why: 'polling never looks at a signer again that was given up as idle',
    caughtBy: int('signers-with-work'),
  },
  {
    id: 'lease-acquire-own-is-new',
    text: 'SELECT *, false FROM own`',
    becomes: 'SELECT *, true FROM own`',
    why: 'a lease whose answer was lost is not renewed, and runs out in the middle of work',
  },
  {
    id: 'lease-held-in-any-order',
    text: '$3::bigint[]) ORDER BY 1, 2) AS h',
    becomes: '$3::bigint[])) AS h',
    why: 'two renewals of one node deadlock',
    caughtBy: int('lock-order'),
  },
  {
    id: 'lease-renew-after-its-end',
    text: 'AND l.owner_node = $4 AND l.expires_at > clock_timestamp()',
    becomes: 'AND l.owner_node = $4',
    why: 'a lease that ran out comes back to life under the same token',
  },
  {
    id: 'lease-renew-of-another',
    text: 'AND l.owner_node = $4 AND l.expires_at',
    becomes: 'AND $4::text IS NOT NULL AND l.expires_at',
    why: 'a node renews the lease of another, and takes it for its own',
    caughtBy: int('lease-conflict'),
  },
  {
    id: 'lease-renew-of-an-old-token',
    text: `l.fencing_token = h.fencing_token
       AND`,
    becomes: `l.fencing_token >= h.fencing_token
       AND`,
    why: 'a node goes on with a lease that was taken anew since',
  },
  {
    id: 'lease-renew-for-no-time',
    text: `l SET expires_at = clock_timestamp() + $5::float8 * interval '1 ms', updated_at`,
    becomes: `l SET expires_at = greatest(l.expires_at, clock_timestamp() + $5::float8 * interval '0'), updated_at`,
    why: 'a renewal changes nothing, and the lease runs out',
  },
  {
    id: 'lease-release-of-a-newer-token',
    text: 'AND l.fencing_token = h.fencing_token AND l.owner_node = $4`',
    becomes: 'AND l.owner_node = $4`',
    why: 'a late release gives up the lease that was taken since',
  },
  {
    id: 'lease-release-of-another',
    text: 'AND l.fencing_token = h.fencing_token AND l.owner_node = $4`',
    becomes: 'AND l.fencing_token = h.fencing_token AND $4::text IS NOT NULL`',
    why: 'a node gives up the lease of another',
    caughtBy: int('lease-conflict'),
  },
  {
    id: 'lease-release-now',
    text: `SET expires_at = '-infinity', updated_at`,
    becomes: 'SET expires_at = clock_timestamp(), updated_at',
    why: 'a hand-over waits for the allowance for wrong clocks',
  },
  {
    id: 'lease-release-never-idle',
    text: 'idle = $5',
    becomes: 'idle = $5 AND false',
    why: 'polling looks at every signer that ever worked',
    caughtBy: int('signers-with-work'),
  },
  {
    id: 'lease-store-twice-the-same',
    text: 'const wanted = distinctSigners(signers);',
    becomes: 'const wanted = signers;',
    why: 'a signer that is named twice fails the acquisition of all',
  },
]);

const FENCED = faultsIn('modules/signers/infrastructure/pg-fenced-unit-of-work.ts', FENCE, [
  {
    id: 'fence-without-lock',
    text: `
       FOR KEY SHARE OF l`,
    becomes: '',
    why: 'a takeover does not wait for writes in flight (I3)',
    caughtBy: int('lease-conflict'),
  },
  {
    id: 'fence-for-share',
    text: 'FOR KEY SHARE OF l',
    becomes: 'FOR SHARE OF l',
    why: 'the owner cannot renew its lease while it writes',
    caughtBy: int('fence-gaps'),
  },
  {
    id: 'fence-of-any-token',
    text: ' AND l.fencing_token = h.fencing_token',
    becomes: ' AND l.fencing_token >= h.fencing_token',
    why: 'a lease that was lost and came back lets old work through',
  },
  {
    id: 'fence-of-any-owner',
    text: 'WHERE l.owner_node = $4 AND l.expires_at',
    becomes: 'WHERE $4::text IS NOT NULL AND l.expires_at',
    why: 'whoever knows a token writes under it',
  },
  {
    id: 'fence-after-expiry',
    text: 'l.owner_node = $4 AND l.expires_at > clock_timestamp()',
    becomes: 'l.owner_node = $4',
    why: 'a node writes under a lease that ran out',
  },
  {
    id: 'fence-by-the-time-of-the-transaction',
    text: 'l.expires_at > clock_timestamp()',
    becomes: 'l.expires_at > transaction_timestamp()',
    why: 'a fenced write that waited for a lock writes under a lease that ran out meanwhile',
    caughtBy: int('lease-conflict'),
  },
  {
    id: 'fence-in-any-order',
    text: '$3::bigint[]) ORDER BY 1, 2) AS h',
    becomes: '$3::bigint[])) AS h',
    why: 'a writer and a takeover deadlock',
    caughtBy: int('lock-order'),
  },
  {
    id: 'fence-lets-some-through',
    text: 'if (lost.length > 0)',
    becomes: 'if (lost.length === leases.length)',
    why: 'a group is written although one of its leases is lost',
  },
]);

const NODES = faultsIn('modules/signers/infrastructure/pg-node-registry.ts', int('node-rows'), [
  {
    id: 'node-announce-once',
    text: 'DO UPDATE SET announced_at = clock_timestamp()`',
    becomes: 'DO NOTHING`',
    why: 'the keys of a node that starts are forgotten while it runs',
  },
  {
    id: 'node-keys-of-others',
    text: 'WHERE key_set = ANY($1::text[])`',
    becomes: 'WHERE key_set <> ALL($1::text[])`',
    why: 'a node does not learn who can sign for what',
  },
  {
    id: 'node-heartbeat-not-seen',
    text: 'DO UPDATE SET last_seen_at = clock_timestamp()\n',
    becomes: 'DO UPDATE SET last_seen_at = n.last_seen_at\n',
    why: 'a node is taken for dead after its first window',
  },
  {
    id: 'node-heartbeat-of-the-dead',
    text: `last_seen_at > clock_timestamp() - $4::float8 * interval '1 ms'`,
    becomes: `last_seen_at > clock_timestamp() - $4::float8 * interval '1 s'`,
    why: 'signers wait for a node that died long ago',
  },
  {
    id: 'node-heartbeat-of-those-who-only-answer',
    text: 'FROM node WHERE acts AND node_id <> $1',
    becomes: 'FROM node WHERE node_id <> $1',
    why: 'signers prefer a node that has no lanes',
  },
  {
    id: 'node-heartbeat-itself-though-it-only-answers',
    text: 'FROM seen WHERE acts`',
    becomes: 'FROM seen`',
    why: 'a node that only answers keeps signers for itself',
  },
  {
    id: 'node-heartbeat-itself-twice',
    text: 'FROM node WHERE acts AND node_id <> $1 AND last_seen_at',
    becomes: 'FROM node WHERE acts AND last_seen_at',
    why: 'a node counts itself twice',
  },
  {
    id: 'node-never-buried',
    text: `interval '1 hour' AND node_id <> $1)`,
    becomes: `interval '1 year' AND node_id <> $1)`,
    why: 'the rows of dead nodes pile up',
  },
  {
    id: 'node-keys-in-use-forgotten',
    text: ' AND NOT EXISTS (SELECT FROM node n WHERE n.key_set = k.key_set)',
    becomes: '',
    why: 'nobody knows the keys of a node that runs for long',
  },
  {
    id: 'node-own-keys-forgotten',
    text: 'AND k.key_set IS DISTINCT FROM $2`',
    becomes: 'AND coalesce($2, $1) IS NOT NULL`',
    why: 'a node that was silent for long is not known to have keys',
  },
  {
    id: 'node-leave-all',
    text: 'DELETE FROM node WHERE node_id = $1',
    becomes: 'DELETE FROM node WHERE node_id >= $1 OR true',
    why: 'when one node leaves, all are taken for dead',
  },
  {
    id: 'lease-holder-of-the-past',
    text: ' AND l.expires_at > clock_timestamp()`',
    becomes: '`',
    why: 'a request is forwarded to a node that may be dead',
  },
  {
    id: 'lease-holder-only-known',
    text: 'FROM signer_lease l LEFT JOIN node n',
    becomes: 'FROM signer_lease l JOIN node n',
    why: 'a signer whose holder said nothing seems to be held by nobody',
  },
  {
    id: 'lease-holder-of-any-chain',
    text: 'WHERE l.chain_id = $1 AND l.signer = $2',
    becomes: 'WHERE $1 > 0 AND l.signer = $2',
    why: 'a request goes to the holder of another chain',
  },
  {
    id: 'node-registry-unsorted',
    text: 'a.nodeId < b.nodeId ? -1 : 1',
    becomes: 'a.nodeId < b.nodeId ? 1 : -1',
    why: 'nodes see each other in another order than is told',
  },
]);

const DIRECTORY = faultsIn('modules/signers/infrastructure/pg-signer-directory.ts', int('chain-rows'), [
  {
    id: 'signer-register-keeps-old-custody',
    text: 'DO UPDATE SET custody = excluded.custody WHERE signer.custody <> excluded.custody',
    becomes: 'DO NOTHING',
    why: 'the overview shows where a key was, not where it is',
  },
  {
    id: 'signer-register-writes-always',
    text: ' WHERE signer.custody <> excluded.custody',
    becomes: '',
    why: 'every start rewrites the rows of all signers',
  },
  {
    id: 'signer-register-in-any-order',
    text: 'ORDER BY 1, 2',
    becomes: 'ORDER BY 1, 2 DESC',
    why: 'nodes with lists in other orders deadlock when they start together',
  },
]);

const PAUSES = faultsIn('modules/signers/infrastructure/pg-signer-pauses.ts', int('paused-signer'), [
  {
    id: 'pause-said-to-be-new-always',
    text: 'k.paused_at IS NULL AS changed',
    becomes: 'true AS changed',
    why: 'the audit trail tells a repetition as another pause',
  },
  {
    id: 'pause-overwrites-the-first',
    text: 'paused_at = coalesce(s.paused_at, clock_timestamp())',
    becomes: 'paused_at = clock_timestamp()',
    why: 'a repetition changes since when the signer is paused',
  },
  {
    id: 'resume-said-to-be-new-always',
    text: 'k.paused_at IS NOT NULL AS changed',
    becomes: 'true AS changed',
    why: 'the audit trail tells a repetition as another resume',
  },
  {
    id: 'resume-forgets-nothing',
    text: 'SET paused_at = NULL, paused_by = NULL, pause_reason = NULL',
    becomes: 'SET paused_at = s.paused_at',
    why: 'a paused signer stands still for ever',
  },
  {
    id: 'pause-waits-for-no-write',
    text: 'signer = $2 FOR UPDATE`',
    becomes: 'signer = $2`',
    why: 'a commit that began before gives nonces after the pause was answered',
  },
]);

/** Who may act. */
export const LEASES = [...STORE, ...FENCED, ...NODES, ...DIRECTORY, ...PAUSES];
