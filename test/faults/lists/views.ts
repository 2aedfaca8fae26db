import { faultsIn, int } from '../fault.js';

const QUERIES = int('tx-queries');
const PAUSED = int('paused-signer');
const READER = int('event-reader');

const LIST = faultsIn('modules/transactions/infrastructure/tx-list.statement.ts', QUERIES, [
  {
    id: 'list-first-chain-only',
    text: 'FROM chains c WHERE c.chain_id IS NOT NULL)`',
    becomes: 'FROM chains c WHERE c.chain_id IS NULL)`',
    why: 'only the first chain is listed',
  },
  {
    id: 'list-same-chain-for-ever',
    text: 'WHERE s.chain_id > c.chain_id ORDER BY',
    becomes: 'WHERE s.chain_id > c.chain_id + 100000 ORDER BY',
    why: 'chains are left out of a list',
  },
  {
    id: 'list-of-one-chain-above',
    text: 'WITH chains AS (SELECT ${value(chainId)}::bigint AS chain_id)',
    becomes: 'WITH chains AS (SELECT chain_id FROM signer WHERE chain_id >= ${value(chainId)}::bigint)',
    why: 'a list of one chain has others in it',
  },
  {
    id: 'list-of-any-signer',
    text: `...(signer === undefined ? [] : [only('m.signer', value(signer))]),`,
    becomes: '',
    why: 'a list of one signer has others in it',
  },
  {
    id: 'list-of-any-state',
    text: "...(state === undefined ? [] : [`m.state = '${state}'`]),",
    becomes: '',
    why: 'a list of one state has others in it',
  },
  {
    id: 'list-before-itself',
    text: '[`m.tx_id < ${value(before)}`]',
    becomes: '[`m.tx_id <= ${value(before)}`]',
    why: 'each page begins with the last one of the page before',
  },
  {
    id: 'list-oldest-first',
    text: 'ORDER BY t.tx_id DESC LIMIT ${most}`',
    becomes: 'ORDER BY t.tx_id LIMIT ${most}`',
    why: 'the newest txs of several chains are cut off',
  },
  {
    id: 'list-oldest-of-each-chain',
    text: '.map((key) => `${key} DESC`)',
    becomes: '.map((key) => `${key} ASC`)',
    why: 'the newest txs of a chain are cut off',
  },
]);

const TYPEORM = faultsIn('modules/transactions/infrastructure/typeorm-tx-queries.ts', QUERIES, [
  {
    id: 'states-of-all',
    text: 'FROM managed_tx WHERE tx_id = ANY($1::uuid[])`',
    becomes: 'FROM managed_tx WHERE tx_id >= ANY($1::uuid[])`',
    why: 'a long poll reads every newer tx',
  },
  {
    id: 'states-of-the-first-slice',
    text: 'for (const { tx_id, state } of rows) states.set(tx_id, state);',
    becomes: 'for (const { tx_id, state } of rows) states.set(tx_id, state);\n      break;',
    why: 'long polls behind the first ten thousand are never answered',
  },
  {
    id: 'find-any',
    text: 'this.txs.findOne({ where: { txId } })',
    becomes: `this.txs.findOne({ where: {}, order: { txId: 'ASC' } })`,
    why: 'whatever id is asked for, the first tx is shown',
  },
  {
    id: 'find-by-request-of-any-signer',
    text: 'where: { chainId: String(chainId), signer, requestId }',
    becomes: 'where: { chainId: String(chainId), requestId }',
    why: 'the tx of another signer is shown',
  },
  {
    id: 'find-by-request-of-any-chain',
    text: 'where: { chainId: String(chainId), signer, requestId }',
    becomes: 'where: { signer, requestId }',
    why: 'the tx of another chain is shown',
  },
  {
    id: 'list-rows-unsorted',
    text: `where: { txId: In(ids) }, order: { txId: 'DESC' }`,
    becomes: `where: { txId: In(ids) }, order: { txId: 'ASC' }`,
    why: 'a page is the wrong way around',
  },
  {
    id: 'attempts-unsorted',
    text: `order: { createdAt: 'ASC', txHash: 'ASC' }`,
    becomes: `order: { txHash: 'ASC' }`,
    why: 'the history of what was sent is shown in another order',
  },
  {
    id: 'attempts-of-all',
    text: 'this.sent.find({ where: { txId }, order',
    becomes: 'this.sent.find({ order',
    why: 'the attempts of other txs are shown',
  },
  {
    id: 'list-sizes-without-one-more',
    text: 'const most = filter.limit + 1;',
    becomes: 'const most = filter.limit;',
    why: 'there is never a second page',
  },
  {
    id: 'list-sizes-oldest-first',
    text: `.orderBy('t.txId', 'DESC')`,
    becomes: `.orderBy('t.txId', 'ASC')`,
    why: 'a list shows the oldest txs',
  },
  {
    id: 'list-ignores-the-cursor',
    text: '...(before === undefined ? {} : { txId: LessThan(before) }),',
    becomes: '',
    why: 'each page of a list without filters is the first',
  },
  {
    id: 'list-ignores-the-chain',
    text: '...(chainId === undefined ? {} : { chainId: String(chainId) }),',
    becomes: '',
    why: 'a list of one chain has others in it',
  },
  {
    id: 'view-swaps-resubmit-and-submit',
    text: 'lastSubmitAt: time(row.lastSubmitAt)',
    becomes: 'lastSubmitAt: time(row.nextResubmitAt)',
    why: 'the API shows when a tx will be sent as when it was',
  },
  {
    id: 'view-chosen-gas-limit-forgotten',
    text: 'gasLimit: options.gasLimit ?? null',
    becomes: 'gasLimit: null',
    why: 'the API does not show what was asked for',
  },
  {
    id: 'view-paused-always',
    text: 's.address = w.signer\n     WHERE s.paused_at IS NOT NULL',
    becomes: 's.address = w.signer\n     WHERE s.paused_at IS NULL',
    why: 'what waits seems to wait for a person',
    caughtBy: PAUSED,
  },
  {
    id: 'view-final-without-signer',
    text: '!isFinal(row.state) && !router.isServed',
    becomes: '!router.isServed',
    why: 'a final tx seems to wait for its signer',
  },
  {
    id: 'view-swaps-fees-of-attempts',
    text: 'maxFeePerGas: hasOnePrice ? null : maxFeePerGas',
    becomes: 'maxFeePerGas: hasOnePrice ? null : maxPriorityFeePerGas',
    why: 'the tip of an attempt is shown as its fee cap',
  },
]);

const EVENTS = [
  ...faultsIn('modules/events/infrastructure/pg-event-log.ts', QUERIES, [
    {
      id: 'events-in-any-order',
      text: 'block_hash, error, detail, position)\n     ORDER BY e.position',
      becomes: 'block_hash, error, detail, position)\n     ORDER BY e.tx_hash',
      why: 'a listener is told of confirmations before the block',
    },
    {
      id: 'events-of-signers-without-signer',
      text: '${NEXT_XID}, e.chain_id, e.signer, e.reason, $6, e.token, e.detail',
      becomes: '${NEXT_XID}, e.chain_id, lower($6), e.reason, e.signer, e.token, e.detail',
      why: 'nobody can tell which signer an event is about',
      caughtBy: PAUSED,
    },
    {
      id: 'events-swap-from-and-to',
      text: 'e.from_state, e.to_state, $12',
      becomes: 'e.to_state, e.from_state, $12',
      why: 'the history of a tx is told backwards',
    },
    {
      id: 'events-without-detail',
      text: 'event.detail ? JSON.stringify(event.detail) : null',
      becomes: 'null',
      why: 'events do not tell confirmations',
    },
    {
      id: 'events-without-token',
      text: 'author.tokenFor(event.signer)',
      becomes: 'null',
      why: 'nobody can tell under which lease an event was written',
    },
    {
      id: 'events-with-the-first-token',
      text: 'author.tokenFor(event.signer)',
      becomes: 'author.tokenFor((events[0] ?? event).signer)',
      why: 'where signers share a step, an event names the lease of another signer',
    },
  ]),
  ...faultsIn('modules/events/infrastructure/next-xid.ts', READER, [
    {
      id: 'next-xid-own',
      text: 'GREATEST(pg_current_xact_id(), (SELECT l.xid FROM tx_event l ORDER BY l.xid DESC, l.seq DESC LIMIT 1))',
      becomes: 'pg_current_xact_id()',
      why: 'a listener gets two events of a tx in the wrong order when the older database transaction wrote the later one',
    },
  ]),
  ...faultsIn('modules/events/infrastructure/pg-event-reader.ts', READER, [
    {
      id: 'reader-beyond-open-transactions',
      text: 'AND p.xid < (SELECT xmin FROM horizon) ORDER BY',
      becomes: 'ORDER BY',
      why: 'an event that commits late is skipped for ever',
    },
    {
      id: 'reader-place-without-seq',
      text: '(p.xid, p.seq) > ($1::text::xid8, $2::bigint)',
      becomes: '(p.xid, $2::bigint) > ($1::text::xid8, $2::bigint)',
      why: 'a page that ends within a commit skips the rest of the commit',
    },
    {
      id: 'reader-tells-fills',
      text: `AND (p.tx_id IS NULL OR t.kind = 'payload')`,
      becomes: '',
      why: 'clients get events of transactions that they did not ask for',
    },
    {
      id: 'reader-forgets-the-reorg',
      text: `p.reason = 'mined' AND EXISTS`,
      becomes: 'p.seq < 0 AND EXISTS',
      why: 'after a reorg a client adds the new confirmations to the old ones',
    },
    {
      id: 'reader-end-beyond-open-transactions',
      text: 'WHERE e.xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY',
      becomes: 'ORDER BY',
      why: 'a stream that begins now misses what commits late',
    },
  ]),
  ...faultsIn('modules/events/infrastructure/pg-horizon.ts', int('horizon-watch'), [
    {
      id: 'horizon-counts-what-can-be-read',
      text: 'WHERE e.xid >= pg_snapshot_xmin(pg_current_snapshot()) ORDER BY e.xid',
      becomes: 'ORDER BY e.xid',
      why: 'every log is said to be held back',
    },
    {
      id: 'horizon-knows-no-foreign-log',
      text: 'n.xid >= pg_snapshot_xmax(pg_current_snapshot())',
      becomes: `n.xid < '0'::xid8`,
      why: 'after a restore into another cluster nobody learns why no event comes any more',
    },
    {
      id: 'horizon-names-readers',
      text: 'a.backend_xid IS NOT NULL',
      becomes: 'a.backend_xid IS NULL',
      why: 'a session is blamed that holds nobody back',
    },
    {
      id: 'horizon-names-the-youngest',
      text: 'ORDER BY age(w.xid) DESC',
      becomes: 'ORDER BY age(w.xid) ASC',
      why: 'a session is blamed that holds nobody back',
    },
    {
      id: 'horizon-mends-the-log-alone',
      text: 'min(e.seq) - 1',
      becomes: 'max(e.seq)',
      why: 'readers skip what they had not read when the log was saved',
    },
  ]),
  ...faultsIn('modules/events/infrastructure/pg-event-bell.ts', int('event-bell'), [
    {
      id: 'event-bell-on-another-channel',
      text: "SELECT pg_notify('${CHANNEL.name}', '')",
      becomes: "SELECT pg_notify('${CHANNEL.name}s', '')",
      why: 'each event waits for the next polling',
    },
  ]),
  ...faultsIn('modules/events/infrastructure/typeorm-tx-history.ts', QUERIES, [
    {
      id: 'history-of-all',
      text: 'where: { txId, seq: MoreThan(after) }',
      becomes: 'where: { seq: MoreThan(after) }',
      why: 'the history of a tx has the events of others in it',
    },
    {
      id: 'history-newest-first',
      text: `order: { seq: 'ASC' }`,
      becomes: `order: { seq: 'DESC' }`,
      why: 'pages of a history leave events out',
    },
    {
      id: 'history-without-cursor',
      text: 'where: { txId, seq: MoreThan(after) }',
      becomes: `where: { txId, seq: MoreThan('0') }`,
      why: 'each page of a history is the first',
    },
    {
      id: 'history-without-limit',
      text: ', take: limit }',
      becomes: ' }',
      why: 'a history of weeks is one answer',
    },
  ]),
];

const AROUND = faultsIn('modules/ops/infrastructure/pg-tx-surroundings.ts', int('explain'), [
  {
    id: 'around-since-the-last-try',
    text: ` AND (e.from_state IS DISTINCT FROM e.to_state OR e.detail ? 'subState')`,
    becomes: '',
    why: 'a tx that waits for a day seems to wait for a minute',
  },
  {
    id: 'around-with-itself-ahead',
    text: '(-r.priority, r.tx_id) < (-t.priority, t.tx_id)',
    becomes: '(-r.priority, r.tx_id) <= (-t.priority, t.tx_id)',
    why: 'a tx waits behind itself',
  },
  {
    id: 'around-without-blobs',
    text: `coalesce(sum(jsonb_array_length(a.options -> 'blobHashes')), 0) AS blobs`,
    becomes: `count(a.options -> 'blobHashes') AS blobs`,
    why: 'the amount that is missing is told too low',
  },
  {
    id: 'around-without-priority',
    text: 'AND (-p.priority, p.tx_id) < (-t.priority, t.tx_id)',
    becomes: 'AND p.tx_id < t.tx_id',
    why: 'an urgent tx that came later is not counted ahead',
  },
  {
    id: 'around-blocked-by-the-highest',
    text: 'ORDER BY m.nonce LIMIT 1) b',
    becomes: 'ORDER BY m.nonce DESC LIMIT 1) b',
    why: 'the tx that is named is not the one that all others wait for',
  },
  {
    id: 'around-blocked-by-itself',
    text: `m.nonce < t.nonce) AND t.state IN`,
    becomes: `m.nonce <= t.nonce) AND t.state IN`,
    why: 'the lowest nonce is said to wait for itself',
  },
  {
    id: 'around-command-in-any-status',
    text: `AND k.status = 'QUEUED' ORDER BY`,
    becomes: 'ORDER BY',
    why: 'a command that was carried out long ago seems to wait',
  },
  {
    id: 'around-in-flight-with-resting',
    text: `            AND m.sub_state IS DISTINCT FROM 'REPLACING'
          ORDER BY m.nonce LIMIT $2`,
    becomes: '          ORDER BY m.nonce LIMIT $2',
    why: 'a race counts as two in flight',
  },
  {
    id: 'around-ahead-in-flight-with-itself',
    text: 'm.nonce < t.nonce))::int AS ahead',
    becomes: 'm.nonce <= t.nonce))::int AS ahead',
    why: 'the lowest nonce is second',
  },
]);

const OVERVIEW = faultsIn('modules/ops/infrastructure/pg-signer-overview.ts', int('node-rows'), [
  {
    id: 'overview-with-the-last-one',
    text: '(chain_id, address) > ($1::bigint, $2::text)',
    becomes: '(chain_id, address) >= ($1::bigint, $2::text)',
    why: 'each page begins with the last one of the page before',
  },
  {
    id: 'overview-column-by-column',
    text: 'WHERE (chain_id, address) > ($1::bigint, $2::text)',
    becomes: 'WHERE chain_id >= $1::bigint AND address > $2::text',
    why: 'signers of later chains are left out when their address is lower than the last one of the page before',
  },
  {
    id: 'overview-only-leased',
    text: 'LEFT JOIN signer_lease l',
    becomes: 'JOIN signer_lease l',
    why: 'signers that nobody worked for are not shown',
  },
  {
    id: 'overview-lease-of-any-chain',
    text: 'ON l.chain_id = s.chain_id AND l.signer = s.address',
    becomes: 'ON l.signer = s.address',
    why: 'a signer is shown once for each of its chains',
  },
  {
    id: 'overview-pending-of-any-chain',
    text: `WHERE t.chain_id = s.chain_id AND t.signer = s.address AND t.state = 'PENDING'`,
    becomes: `WHERE t.signer = s.address AND t.state = 'PENDING'`,
    why: 'what waits is counted on all chains',
  },
  {
    id: 'overview-in-flight-with-mined',
    text: `t.state IN ('ALLOCATED', 'IN_MEMPOOL')) f`,
    becomes: `t.state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED')) f`,
    why: 'what was mined seems to be in flight',
  },
  {
    id: 'overview-any-first-page',
    text: 'ORDER BY chain_id, address LIMIT $3) s',
    becomes: 'ORDER BY chain_id DESC, address LIMIT $3) s',
    why: 'pages leave signers out',
  },
  {
    id: 'overview-owner-of-the-past',
    text: 'leaseOwner: leased ? row.owner_node : null',
    becomes: 'leaseOwner: row.owner_node',
    why: 'a dead node seems to own its signers',
  },
]);

/** What is shown. */
export const VIEWS = [...LIST, ...TYPEORM, ...EVENTS, ...AROUND, ...OVERVIEW];
