import { faultsIn, int } from '../fault.js';

/** Who has which nonce. */
export const NONCES = faultsIn('modules/signers/infrastructure/pg-nonce-ledger.ts', int('nonce-ledger'), [
  {
    id: 'nonce-align-lowers',
    text: `SET next_nonce = GREATEST(c.next_nonce, excluded.next_nonce), fencing_token = excluded.fencing_token, last_synced_at`,
    becomes: `SET next_nonce = excluded.next_nonce, fencing_token = excluded.fencing_token, last_synced_at`,
    why: 'a node that lags makes nonces be given twice (I1)',
  },
  {
    id: 'nonce-align-never-raises',
    text: `SET next_nonce = GREATEST(c.next_nonce, excluded.next_nonce), fencing_token = excluded.fencing_token, last_synced_at`,
    becomes: `SET next_nonce = c.next_nonce, fencing_token = excluded.fencing_token, last_synced_at`,
    why: 'nonces that somebody else used are given out',
  },
  {
    id: 'nonce-align-not-synced',
    text: 'excluded.fencing_token, last_synced_at = clock_timestamp()`',
    becomes: 'excluded.fencing_token`',
    why: 'after a lost commit the chain is searched further back than it has to be',
  },
  {
    id: 'nonce-cursors-of-any-chain',
    text: 'ON w.chain_id = c.chain_id AND w.signer = c.signer`,\n};\n\n/** A foreign',
    becomes: 'ON w.signer = c.signer`,\n};\n\n/** A foreign',
    why: 'the cursor of another chain is compared with this one',
  },
  {
    id: 'nonce-forget-the-next-one',
    text: 's.nonce < n.nonce AND s.status',
    becomes: 's.nonce <= n.nonce AND s.status',
    why: 'the lowest free nonce is forgotten, and never filled',
  },
  {
    id: 'nonce-forget-held',
    text: `s.nonce < n.nonce AND s.status = 'RELEASED'`,
    becomes: `s.nonce < n.nonce AND s.status <> 'CONSUMED'`,
    why: 'the slot of a tx that was mined and not seen is deleted',
  },
  {
    id: 'nonce-forget-all-below',
    text: ` AND s.nonce < n.nonce AND s.status = 'RELEASED'`,
    becomes: ` AND s.nonce < n.nonce`,
    why: 'what was consumed is deleted, and a reorg cannot open it',
  },
  {
    id: 'nonce-forget-of-any-chain',
    text: 'WHERE s.chain_id = n.chain_id AND s.signer = n.signer AND s.nonce < n.nonce',
    becomes: 'WHERE s.signer = n.signer AND s.nonce < n.nonce',
    why: 'free slots of another chain are forgotten, and leave gaps',
  },
  {
    id: 'nonce-lowest-above',
    text: 's.nonce >= n.nonce\n        ORDER BY s.nonce LIMIT 1',
    becomes: 's.nonce > n.nonce\n        ORDER BY s.nonce LIMIT 1',
    why: 'a nonce that is in flight is taken for missing',
  },
  {
    id: 'nonce-highest-above',
    text: 's.nonce >= n.nonce\n        ORDER BY s.nonce LIMIT 1',
    becomes: 's.nonce >= n.nonce\n        ORDER BY s.nonce DESC LIMIT 1',
    why: 'all that is in flight is taken for missing',
  },
  {
    id: 'nonce-missing-one-more',
    text: 'lowest.nonce - n.nonce AS count',
    becomes: 'lowest.nonce - n.nonce + 1 AS count',
    why: 'a gap that could be healed is left to people',
  },
  {
    id: 'nonce-missing-none',
    text: `WHERE lowest.nonce > n.nonce\``,
    becomes: `WHERE lowest.nonce >= n.nonce\``,
    why: 'each look finds a gap of no nonces',
  },
  {
    id: 'nonce-free-missing-with-the-slot',
    text: 'lowest.nonce - 1) AS missing',
    becomes: 'lowest.nonce) AS missing',
    why: 'healing a gap fails for ever: its last nonce is ours',
  },
  {
    id: 'nonce-free-missing-all',
    text: 'greatest(n.nonce, lowest.nonce - $5::bigint)',
    becomes: 'greatest(n.nonce, lowest.nonce - 1000 * $5::bigint)',
    why: 'very many no-ops are paid for',
  },
  {
    id: 'nonce-read-held-as-free',
    text: `s.status = 'RELEASED'
                  ORDER BY`,
    becomes: `s.status <> 'CONSUMED'
                  ORDER BY`,
    why: 'a nonce that is in flight is given out again',
  },
  {
    id: 'nonce-read-highest-first',
    text: 'ORDER BY s.nonce LIMIT $3) AS released',
    becomes: 'ORDER BY s.nonce DESC LIMIT $3) AS released',
    why: 'a gap stays open while nonces behind it are used',
  },
  {
    id: 'nonce-read-without-limit',
    text: 'ORDER BY s.nonce LIMIT $3) AS released',
    becomes: 'ORDER BY s.nonce LIMIT $3 + 100) AS released',
    why: 'more free slots are read than are wanted',
  },
  {
    id: 'nonce-hold-any-slot',
    text: `
       WHERE s.status = 'RELEASED'
      RETURNING s.nonce),`,
    becomes: `
      RETURNING s.nonce),`,
    why: 'a nonce that is in flight is given to another tx (I1)',
  },
  {
    id: 'nonce-hold-from-an-old-cursor',
    text: ' AND c.next_nonce = m.from_nonce',
    becomes: ' AND c.next_nonce >= m.from_nonce',
    why: 'a cursor is set back by whoever read it earlier',
  },
  {
    id: 'nonce-hold-keeps-the-old-tx',
    text: `SET status = 'HELD', tx_id = excluded.tx_id, fencing_token = excluded.fencing_token, updated_at = clock_timestamp()
       WHERE s.status = 'RELEASED'
      RETURNING`,
    becomes: `SET status = 'HELD', fencing_token = excluded.fencing_token, updated_at = clock_timestamp()
       WHERE s.status = 'RELEASED'
      RETURNING`,
    why: 'a free slot that is taken is nobody’s, and is filled by a no-op',
  },
  {
    id: 'nonce-hold-uncounted',
    text: `expectRows('hold', rows[0]?.held ?? null, slots.length);`,
    becomes: '',
    why: 'a tx that got no slot is signed',
  },
  {
    id: 'nonce-cursor-unmoved',
    text: `expectRows('move cursor', rows[0]?.moved ?? null, cursors.length);`,
    becomes: '',
    why: 'a cursor that somebody else moved is not noticed',
  },
  {
    id: 'nonce-adopt-any-slot',
    text: `
     WHERE s.status = 'RELEASED'\`,
};

/** Raises`,
    becomes: `\`,
};

/** Raises`,
    why: 'the slot of one tx is given to another whose bytes were found',
  },
  {
    id: 'nonce-raise-to-the-slot',
    text: 'max(a.nonce) + 1',
    becomes: 'max(a.nonce)',
    why: 'a nonce whose bytes are out is given out again',
  },
  {
    id: 'nonce-raise-lowers',
    text: 'SET next_nonce = GREATEST(c.next_nonce, excluded.next_nonce), fencing_token = excluded.fencing_token`',
    becomes: 'SET next_nonce = excluded.next_nonce, fencing_token = excluded.fencing_token`',
    why: 'a cursor is set back by what was found',
  },
  {
    id: 'nonce-gaps-above-the-highest',
    text: 'AND higher.nonce > s.nonce AND',
    becomes: 'AND higher.nonce <> s.nonce AND',
    why: 'a no-op is paid for a nonce that nothing waits for',
  },
  {
    id: 'nonce-gaps-below-consumed',
    text: `higher.nonce > s.nonce AND higher.status = 'HELD')`,
    becomes: 'higher.nonce > s.nonce)',
    why: 'no-ops are paid for nonces that nothing waits for',
  },
  {
    id: 'nonce-gaps-of-another-chain',
    text: 'WHERE higher.chain_id = s.chain_id AND higher.signer',
    becomes: 'WHERE higher.signer',
    why: 'what is in flight on another chain makes no-ops be paid for here',
  },
  {
    id: 'nonce-gaps-of-txs',
    text: `s.status = 'HELD' AND s.tx_id IS NULL\n     ORDER BY`,
    becomes: `s.status = 'HELD'\n     ORDER BY`,
    why: 'a fill competes with a payload for its slot',
  },
  {
    id: 'nonce-gaps-none-of-the-version-before',
    text: `s.status = 'HELD' AND s.tx_id IS NULL\n     ORDER BY`,
    becomes: `s.status = 'HELD' AND false\n     ORDER BY`,
    why: 'a fill that the version before began is never finished',
  },
  {
    id: 'nonce-gaps-in-no-order',
    text: `s.tx_id IS NULL\n     ORDER BY 1, 2, 3`,
    becomes: `s.tx_id IS NULL\n     ORDER BY 1, 2, 3 DESC`,
    why: 'fills are sent out of nonce order',
  },
  {
    id: 'nonce-fill-of-a-tx',
    text: 's.nonce = f.nonce AND s.tx_id IS NULL`',
    becomes: 's.nonce = f.nonce`',
    why: 'a fill takes the slot of a payload',
  },
  {
    id: 'nonce-fill-keeps-the-status',
    text: `SET status = 'HELD', tx_id = f.tx_id, tx_hash = NULL, fencing_token = f.token`,
    becomes: `SET tx_id = f.tx_id, tx_hash = NULL, fencing_token = f.token`,
    why: 'a slot of a fill is given to a payload',
  },
  {
    id: 'nonce-fill-of-any-chain',
    text: 'WHERE s.chain_id = f.chain_id AND s.signer = f.signer AND s.nonce = f.nonce',
    becomes: 'WHERE s.signer = f.signer AND s.nonce = f.nonce',
    why: 'a slot of another chain is taken by a fill',
  },
  {
    id: 'nonce-release-consumed',
    text: `AND s.nonce = r.nonce AND s.status = 'HELD'\`,
};

const FORGET`,
    becomes: `AND s.nonce = r.nonce AND s.status <> 'RELEASED'\`,
};

const FORGET`,
    why: 'a nonce that was mined is given out again (I1)',
  },
  {
    id: 'nonce-release-keeps-the-token',
    text: `SET status = 'RELEASED', tx_id = NULL, fencing_token = r.token`,
    becomes: `SET status = 'RELEASED', tx_id = NULL, fencing_token = s.fencing_token`,
    why: 'the slot does not tell under which lease it was freed',
  },
  {
    id: 'nonce-consume-free',
    text: `AND s.nonce = r.nonce AND s.status = 'HELD'\`,
};

const REOPEN`,
    becomes: `AND s.nonce = r.nonce AND s.status <> 'CONSUMED'\`,
};

const REOPEN`,
    why: 'a free slot counts as mined, and its nonce is a gap for ever',
  },
  {
    id: 'nonce-consume-foreign-keeps-the-tx',
    text: 'CASE WHEN r.tx_hash IS NOT NULL THEN coalesce(r.tx_id, s.tx_id) END',
    becomes: 'coalesce(r.tx_id, s.tx_id)',
    why: 'a nonce of somebody else counts as that of our tx',
  },
  {
    id: 'nonce-forget-any',
    text: `AND s.nonce = n.nonce AND s.status = 'HELD'`,
    becomes: `AND s.nonce = n.nonce AND s.status <> 'RELEASED'`,
    why: 'the slot of a transaction that was mined is deleted',
  },
  {
    id: 'nonce-hand-over-of-a-used-nonce',
    text: `AND s.nonce = h.nonce AND s.status = 'HELD'`,
    becomes: `AND s.nonce = h.nonce AND s.status <> 'RELEASED'`,
    why: 'a replacement takes a nonce that is used',
  },
  {
    id: 'nonce-consume-keeps-the-holder',
    text: 'coalesce(r.tx_id, s.tx_id) END,',
    becomes: 's.tx_id END,',
    why: 'a deep reorg does not find the original that won against its replacement',
    caughtBy: int('races'),
  },
  {
    id: 'nonce-reopen-held',
    text: `AND s.nonce = r.nonce AND s.status = 'CONSUMED'`,
    becomes: `AND s.nonce = r.nonce AND s.status <> 'RELEASED'`,
    why: 'a reorg that is seen twice opens a slot that is in use',
  },
  {
    id: 'nonce-reopen-with-its-hash',
    text: `SET status = 'HELD', tx_hash = NULL, tx_id`,
    becomes: `SET status = 'HELD', tx_id`,
    why: 'a slot that is in flight names the transaction that was mined once',
  },
]);
