/** Lists, batches and workers that the neighbour test does not run: what one actor can do to others there, and the test that shows it. */
export interface Elsewhere {
  readonly parts: readonly string[];
  readonly why: string;
  readonly shownBy: string;
}

export const ELSEWHERE: readonly Elsewhere[] = [
  {
    parts: ['KeyRefresh'],
    why: 'one statement for all keys and one for all accounts every 5 s, and one for all uses of keys each minute; a wrong key costs no statement',
    shownBy: 'test/unit/access/key-ring.spec.ts',
  },
  {
    parts: ['PolicyRefresh'],
    why: 'one statement a second for all policies, which reads them only when one has changed',
    shownBy: 'test/integration/api-policies.int-spec.ts',
  },
  {
    parts: ['IntakeBatcher'],
    why: 'accounts take turns with requests, in memory, so the figure is how many inserts a request waits for',
    shownBy: 'test/integration/neighbours.int-spec.ts',
  },
  {
    parts: ['IssuerKeys'],
    why: 'one request a minute; tokens of keys that do not exist cause one in 5 s at most, and those of known keys do not wait for it',
    shownBy: 'test/unit/access/jwt-tokens.spec.ts',
  },
  {
    parts: ['OpenRequests'],
    why: 'once a second a look at the open requests of the node, in memory; what closes one waits for nothing',
    shownBy: 'test/e2e/access.e2e-spec.ts',
  },
  {
    parts: ['pg-tx-queue/LOCK_STOPPED'],
    why: 'only for signers with a tx of a stopped account in their page: one statement for all of these, and a thousand rows in equal parts',
    shownBy: 'test/integration/stopped-account.int-spec.ts',
  },
  {
    parts: ['TendAuthorizations', 'authorization.statements/OPEN'],
    why: 'authorities take turns with their payloads, so the figure is how long one is held back',
    shownBy: 'test/integration/neighbours.int-spec.ts',
  },
  {
    parts: ['TendPermits', 'PermitScheduler'],
    why: 'each owner asks its contracts and its custody by itself, beside the workers, and holds nothing back; the look waits 2 s for it at most',
    shownBy: 'test/unit/permits/tend-permits.spec.ts',
  },
  {
    parts: ['SignTypedData'],
    why: 'two turns at once for each signer, in memory; lanes and other signers do not take them',
    shownBy: 'test/unit/permits/sign-typed-data.spec.ts',
  },
  {
    parts: ['LeftFreeScheduler'],
    why: 'a ticker of its own for signers that are held for a lower nonce, 64 no-ops of each at once, with growing pauses; one that fails is not due for a while',
    shownBy: 'test/unit/nonces/fill-left-free.spec.ts',
  },
  {
    parts: ['BatchedAsk', 'JsonRpcEndpoint'],
    why: 'the calls of one question, of every method that the service asks',
    shownBy: 'test/unit/chain/batched-ask.spec.ts',
  },
  {
    parts: ['ChainProbes'],
    why: 'a ticker of its own for each chain, which ends when the chain has answered, and which nothing waits for',
    shownBy: 'test/unit/chain/chain-probes.spec.ts',
  },
  {
    parts: ['SearchListings'],
    why: 'four signers in turn in one look, which read so many blocks together; one that is slow or fails is not waited for',
    shownBy: 'test/unit/nonces/search-listings.spec.ts',
  },
  {
    parts: ['LookUpReceipts'],
    why: 'four blocks in one look, each once in half a minute; what does not come in time is not waited for',
    shownBy: 'test/unit/confirmations/look-up-receipts.spec.ts',
  },
  {
    parts: ['HoldBehind'],
    why: 'one question for all signers with something that became final, once per block; each is held by itself',
    shownBy: 'test/integration/chain-behind.int-spec.ts',
  },
  {
    parts: ['SettleTxs', 'ReopenTxs', 'RecheckReceipts', 'ConfirmationManager'],
    why: 'whole blocks, which are the same for all signers; what cannot be written is left for the next block',
    shownBy: 'test/integration/neighbours.int-spec.ts',
  },
  {
    parts: [
      'ReassignNonces',
      'TendHolds',
      'WatchGaps',
      'HoldScheduler',
      'GapScheduler',
      'pg-txs-in-flight/WAITING_HOLDS',
      'ReopenNonces',
      'FreeNonceGaps',
      'HandOver',
      'WatchBalances',
      'BalanceScheduler',
      'HandOverScheduler',
    ],
    why: 'one item per signer, by the worker that separates who fails',
    shownBy: 'test/unit/ledger/leased-work.spec.ts',
  },
  {
    parts: ['FanOut', 'FanOutScheduler', 'EnabledEndpoints'],
    why: 'one log in its order; what is inserted at once is bounded, whoever subscribes',
    shownBy: 'test/integration/webhook-fan-out.int-spec.ts',
  },
  {
    parts: ['OldReads'],
    why: 'one page of each stream at a time; a stream has no owner yet',
    shownBy: 'test/unit/events/old-reads.spec.ts',
  },
  {
    parts: ['WebhookHousekeeping', 'delivery.statements/BURY', 'delivery.statements/PRUNE'],
    why: 'rows that nobody waits for, in bounded portions',
    shownBy: 'test/unit/webhooks/webhook-housekeeping.spec.ts',
  },
  {
    parts: [
      'RetentionHousekeeping',
      'PgOldTxs',
      'PgOldEntries',
      'PgOldEvents',
      'BlobHousekeeping',
      'BlockHousekeeping',
      'NodeHousekeeping',
      'pg-blob.repository/PRUNE',
    ],
    why: 'rows that nobody waits for, a bounded number at a time',
    shownBy: 'test/integration/retention.int-spec.ts',
  },
  {
    parts: ['BrokerFeeder', 'HorizonWatch', 'LeaseHeartbeat'],
    why: 'one receiver, one log, one statement for all leases: no actors',
    shownBy: 'test/unit/broker/feed-sink.spec.ts',
  },
];
