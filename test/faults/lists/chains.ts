import { faultsIn, int } from '../fault.js';

const ROWS = int('chain-rows');

const BLOCKS = faultsIn('modules/chain/infrastructure/pg-block-store.ts', ROWS, [
  {
    id: 'block-recent-with-orphans',
    text: 'WHERE chain_id = $1 AND canonical ORDER BY number DESC LIMIT $2',
    becomes: 'WHERE chain_id = $1 ORDER BY number DESC LIMIT $2',
    why: 'what is followed ends at the last reorg',
  },
  {
    id: 'block-recent-oldest',
    text: 'ORDER BY number DESC LIMIT $2',
    becomes: 'ORDER BY number LIMIT $2',
    why: 'following begins anew with the oldest block that is kept',
  },
  {
    id: 'block-recent-without-limit',
    text: 'ORDER BY number DESC LIMIT $2',
    becomes: 'ORDER BY number DESC LIMIT $2 + 1000',
    why: 'more blocks are compared than are wanted',
  },
  {
    id: 'block-recent-with-a-gap',
    text: 'blocks[index - 1]?.parentHash !== block.hash',
    becomes: 'blocks[index - 1]?.hash === block.hash',
    why: 'a gap in what was followed goes unnoticed',
  },
  {
    id: 'block-orphan-on-any-chain',
    text: 'SET canonical = false WHERE chain_id = $1 AND hash',
    becomes: 'SET canonical = false WHERE $1 > 0 AND hash',
    why: 'a reorg of one chain orphans blocks of its fork',
  },
  {
    id: 'block-orphan-nothing',
    text: 'hash = ANY($2::text[]) AND canonical`',
    becomes: 'hash = ANY($2::text[]) AND NOT canonical`',
    why: 'blocks that the chain lost stay canonical',
  },
  {
    id: 'block-orphaned-canonical-too',
    text: 'WHERE chain_id = $1 AND NOT canonical\n',
    becomes: 'WHERE chain_id = $1\n',
    why: 'what is final in canonical blocks is opened again',
  },
  {
    id: 'block-orphaned-one-deeper',
    text: 'AND number > (SELECT',
    becomes: 'AND number >= (SELECT',
    why: 'a block more is looked at than is kept',
  },
  {
    id: 'block-orphaned-below-any-chain',
    text: '(SELECT max(number) FROM chain_block WHERE chain_id = $1)',
    becomes: '(SELECT max(number) FROM chain_block)',
    why: 'on a chain with low numbers no reorg is looked at again',
  },
  {
    id: 'block-displace-never',
    text: 'AND b.hash <> n.hash AND b.canonical',
    becomes: 'AND b.hash <> n.hash AND NOT b.canonical',
    why: 'two blocks at one height are canonical',
  },
  {
    id: 'block-displace-on-any-chain',
    text: 'WHERE b.chain_id = $1 AND b.number = n.number',
    becomes: 'WHERE $1 > 0 AND b.number = n.number',
    why: 'a block of one chain displaces those of all others',
  },
  {
    id: 'block-store-never-again',
    text: 'DO UPDATE SET canonical = true WHERE NOT b.canonical',
    becomes: 'DO NOTHING',
    why: 'a chain that goes back to its first branch is not followed',
  },
  {
    id: 'block-forget-one-more',
    text: 'WHERE chain_id = $1 AND number < $2',
    becomes: 'WHERE chain_id = $1 AND number <= $2',
    why: 'the lowest block that is wanted is gone',
  },
  {
    id: 'block-forget-of-all-chains',
    text: 'DELETE FROM chain_block WHERE chain_id = $1 AND',
    becomes: 'DELETE FROM chain_block WHERE $1 > 0 AND',
    why: 'a chain with high numbers deletes the blocks of all others',
  },
  {
    id: 'block-lock-none',
    text: 'SELECT pg_advisory_xact_lock(7250316, $1)',
    becomes: 'SELECT 7250316, $1::int',
    why: 'two nodes that follow one chain deadlock',
  },
  {
    id: 'block-lock-of-all-chains',
    text: 'pg_advisory_xact_lock(7250316, $1)',
    becomes: 'pg_advisory_xact_lock(7250316, 0 * $1)',
    why: 'followers of different chains wait for each other',
  },
]);

const ACTIVITY = faultsIn('modules/confirmations/infrastructure/pg-chain-activity.ts', ROWS, [
  {
    id: 'activity-noted-once',
    text: 'DO UPDATE SET last_work_at = excluded.last_work_at)',
    becomes: 'DO NOTHING)',
    why: 'a chain is not followed any more while there is work on it',
  },
  {
    id: 'activity-in-any-order',
    text: 'AS c (chain_id) ORDER BY 1',
    becomes: 'AS c (chain_id)',
    why: 'two nodes that note the same chains deadlock',
  },
  {
    id: 'activity-in-seconds',
    text: '* 1000 AS age_ms',
    becomes: 'AS age_ms',
    why: 'chains are followed a thousand times as long as they have to be',
  },
]);

/** What is known of chains. */
export const CHAINS = [...BLOCKS, ...ACTIVITY];
