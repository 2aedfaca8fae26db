import type { Client } from 'pg';
import type { Statement } from '../../src/platform/database/pg-tx.js';

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** What one execution of a statement touched. */
export interface Touched {
  /** 8 kB each, as often as they were looked into. */
  readonly pages: number;
  /** Rows of tables that were read, and those thrown away. */
  readonly rows: number;
  readonly indexes: readonly string[];
}

/** On the connection of `client`, which has prepared the statement by its name; `args` are SQL. */
export async function touchedBy(client: Client, { name }: Statement, args: readonly string[]): Promise<Touched> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${name}(${args.join(', ')})`,
  );
  const [row] = rows;
  if (!row) throw new Error('no plan');
  const root = row['QUERY PLAN'][0].Plan;
  const scans = nodesOf(root).filter((node) => node['Relation Name'] !== undefined);
  return {
    pages: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
    rows: scans.reduce(
      (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    ),
    indexes: [...new Set(nodesOf(root).flatMap((node) => node['Index Name'] ?? []))].sort(),
  };
}

/** Prepares it as the service does, and has its generic plan made now, from what the tables hold now. */
export async function planNow(client: Client, statement: Statement, values: readonly unknown[]): Promise<void> {
  for (let use = 0; use < 6; use += 1) await client.query({ ...statement, values: [...values] });
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
