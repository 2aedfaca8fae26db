import { type CallerLimits, DEFAULT_ACCOUNT, isUnlimited, type Viewer } from '../../../kernel/caller.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { limitValues, withinLimits } from '../../../platform/database/within-limits.js';
import type { TxFilter } from '../application/views/tx-views.js';
import { TX_STATES, type TxState } from '../domain/tx-state-machine.js';

/** The number of txs in these states is bounded, and no index has them in the order of ids, so all of them are read and sorted. */
const IN_FLIGHT: readonly TxState[] = ['ALLOCATED', 'IN_MEMPOOL', 'MINED'];

/** The chains of all signers, one index probe each: the indexes of txs begin with the chain. */
const EVERY_CHAIN = `
  WITH RECURSIVE chains AS (
    (SELECT chain_id FROM signer ORDER BY chain_id LIMIT 1)
    UNION ALL
    SELECT (SELECT s.chain_id FROM signer s WHERE s.chain_id > c.chain_id ORDER BY s.chain_id LIMIT 1) FROM chains c WHERE c.chain_id IS NOT NULL)`;

/**
 * Builds the statement for the ids of a page of txs by chain, state or signer, newest first: a page of each chain, merged. The state is a literal
 * in the text, because only then partial indexes fit: managed_tx_by_state, managed_tx_ended_by_signer, managed_tx_live, managed_tx_fills.
 * Chain and signer are ranges of one value and part of the order. So only an index that begins with them has the order, and the planner
 * cannot choose to search a rare state, or the txs of a chain that is out of use, along the primary key. A page of a chain is merged from one of each
 * state, because no index has all its txs in the order of ids.
 *
 * An account other than that of the operators has an index of its own, and a list reads its txs alone, whatever is wanted of them.
 */
export function listStatement(filter: TxFilter, viewer: Viewer): ListStatement {
  return viewer.account === DEFAULT_ACCOUNT ? ofOperators(filter, viewer) : ofAccount(filter, viewer);
}

type Value = string | number | readonly string[] | readonly number[] | null;

/** What `listStatement` merges pages of: the statement begins with `chains`, and `signer` is whose txs they have; null for all of a chain. */
interface Places {
  readonly chains: string;
  readonly signer: string | null;
}

interface ListStatement {
  readonly text: string;
  readonly values: readonly Value[];
}

function ofAccount({ chainId, signer, state, kind, before, limit }: TxFilter, viewer: Viewer): ListStatement {
  const values: Value[] = [];
  const value = (item: Value): string => `$${values.push(item)}`;
  const conditions = [
    ...[only('m.account_id', value(viewer.account)), `m.account_id <> '${DEFAULT_ACCOUNT}'`, `m.kind = '${kind}'`],
    ...(chainId === undefined ? [] : [`m.chain_id = ${value(chainId)}`]),
    ...(signer === undefined ? [] : [`m.signer = ${value(signer)}`]),
    ...(state === undefined ? [] : [`m.state = '${state}'`]),
    ...(before === undefined ? [] : [`m.tx_id < ${value(before)}`]),
    ...(isUnlimited(viewer) ? [] : [withinLimits('m.chain_id', 'm.signer', ...limitParameters(viewer, value))]),
  ];
  const text = `
    SELECT m.tx_id FROM managed_tx m WHERE ${conditions.join(' AND ')} ORDER BY m.account_id DESC, m.tx_id DESC LIMIT ${value(limit)}`;
  return { text, values };
}

function limitParameters({ only }: Viewer, value: (item: Value) => string): [string, string] {
  const [signers, chainIds] = limitValues(only);
  return [value(signers), value(chainIds)];
}

/** The chains, or signers, whose pages are merged, as `chains`. A caller that is limited reads through the txs of no others. */
function placesOf({ chainId, signer }: TxFilter, { only }: Viewer, value: (item: Value) => string): Places {
  if (only.signers !== null) {
    const signers = only.signers.filter(
      (one) => (chainId ?? one.chainId) === one.chainId && (signer ?? one.address) === one.address,
    );
    const [chainIds, addresses] = [signers.map((one) => one.chainId), signers.map(({ address }) => address)];
    const places = `unnest(${value(chainIds)}::bigint[], ${value(addresses)}::text[]) AS s (chain_id, signer)`;
    return { chains: `WITH chains AS (SELECT * FROM ${places})`, signer: 'c.signer' };
  }
  return { chains: chainsOf(chainId, only, value), signer: signer === undefined ? null : value(signer) };
}

function chainsOf(chainId: ChainId | undefined, { chainIds }: CallerLimits, value: (item: Value) => string): string {
  if (chainIds !== null) {
    const wanted = chainIds.filter((id) => (chainId ?? id) === id);
    return `WITH chains AS (SELECT unnest(${value(wanted)}::bigint[]) AS chain_id)`;
  }
  return chainId === undefined ? EVERY_CHAIN : `WITH chains AS (SELECT ${value(chainId)}::bigint AS chain_id)`;
}

function ofOperators(filter: TxFilter, viewer: Viewer): ListStatement {
  const { state, kind, before, limit } = filter;
  const values: Value[] = [];
  const value = (item: Value): string => `$${values.push(item)}`;
  const { chains, signer } = placesOf(filter, viewer, value);
  const conditions = [
    'm.chain_id BETWEEN c.chain_id AND c.chain_id',
    ...(signer === null ? [] : [only('m.signer', signer)]),
    `m.kind = '${kind}'`,
    `m.account_id = '${DEFAULT_ACCOUNT}'`,
    ...(before === undefined ? [] : [`m.tx_id < ${value(before)}`]),
  ];
  const most = value(limit);
  const pageIn = (one: TxState | undefined): string => {
    const isInFlight = one !== undefined && IN_FLIGHT.includes(one);
    const all = [
      ...conditions,
      ...(one === undefined ? [] : [`m.state = '${one}'`]),
      ...(isInFlight ? ['m.nonce >= 0'] : []),
    ];
    // As text, so that no index of all txs has the order.
    const id = isInFlight ? 'm.tx_id::text' : 'm.tx_id';
    const order = ['m.chain_id', ...(signer === null ? [] : ['m.signer']), id].map((key) => `${key} DESC`).join();
    return `(SELECT m.tx_id FROM managed_tx m WHERE ${all.join(' AND ')} ORDER BY ${order} LIMIT ${most})`;
  };
  const isOfChain = chains !== EVERY_CHAIN && signer === null && state === undefined && kind === 'payload';
  const pages = (isOfChain ? TX_STATES : [state]).map(pageIn);
  const text = `${chains}
    SELECT t.tx_id FROM chains c CROSS JOIN LATERAL (${pages.join(' UNION ALL ')}) t
     WHERE c.chain_id IS NOT NULL ORDER BY t.tx_id DESC LIMIT ${most}`;
  return { text, values };
}

function only(column: string, value: string): string {
  return `${column} BETWEEN ${value} AND ${value}`;
}

/** About how many bytes a row `t` of managed_tx takes in an answer. Call data is shown in hexadecimal. */
export const VIEW_BYTES = `
  1000 + 2 * octet_length(t.data) + coalesce(octet_length(t.metadata::text), 0) + coalesce(octet_length(t.receipt::text), 0)
       + octet_length(t.options::text)
       + coalesce(octet_length(t.failure_reason), 0) + coalesce(octet_length(t.last_error), 0)`;
