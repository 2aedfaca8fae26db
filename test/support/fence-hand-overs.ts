import type { Fence } from '../../src/modules/signers/domain/fence.js';
import type { Lease } from '../../src/modules/signers/domain/lease.js';
import { LeaseLost } from '../../src/modules/signers/domain/lease-lost.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { PgTx, type SqlRunner, type Statement } from '../../src/platform/database/pg-tx.js';
import { heldSigner, moveCursor, NAIVE_MOVE, naiveValues } from './fence-cursor.js';
import { type FenceLab, handOver, type LabNode } from './fence-lab.js';
import { gate } from './gate.js';

/** One critical write: moves the cursor and fills a slot under `lease`; throws LeaseLost when the check says so. */
export type CriticalWrite = (node: LabNode, lease: Lease, nonce: number) => Promise<void>;

const FILL_SLOT: Statement = {
  name: 'lab_fill_slot',
  text: `INSERT INTO signer_nonce_allocation (chain_id, signer, nonce, status, fencing_token) VALUES ($1, $2, $3, 'HELD', $4)`,
};
const NAIVE: Statement = { name: 'lab_naive_move', text: NAIVE_MOVE };

export const fencedWrite: CriticalWrite = (node, lease, nonce) =>
  node.fenced.run([lease], 'lab', async (fence: Fence) => {
    await moveCursor(fence, lease.signer);
    await fillSlot(PgTx.of(fence.tx), lease, nonce);
  });

export const naiveWrite: CriticalWrite = (node, lease, nonce) =>
  node.database.transaction(async (tx) => {
    const { rowCount } = await tx.query(NAIVE, naiveValues(lease));
    if (rowCount === 0) throw new LeaseLost([lease], 'lab');
    await fillSlot(tx, lease, nonce);
  });

async function fillSlot(runner: SqlRunner, { signer, token }: Lease, nonce: number): Promise<void> {
  await runner.query(FILL_SLOT, [signer.chainId, signer.address, nonce, token]);
}

export interface HandOverCount {
  readonly handOvers: number;
  readonly writes: number;
  /** Writes that were refused because the lease had moved: that many stale writes were tried. */
  readonly refused: number;
  /** Rows of the last owner that the next one's first read after its takeover did not see. */
  readonly stale: number;
}

/**
 * A signer goes to and fro between two nodes while the writers of both go on: those of the old owner are not told, they
 * find out by being refused.
 */
export class HandOvers {
  private readonly current = new Map<LabNode, Lease>();
  private news = gate();
  private over = false;
  private nonce = 0;
  private writes = 0;
  private refused = 0;
  /** By token of the new owner: how many rows of its predecessor its first read saw. */
  private readonly seen = new Map<bigint, number>();

  constructor(
    private readonly lab: FenceLab,
    private readonly nodes: readonly [LabNode, LabNode],
    private readonly write: CriticalWrite,
  ) {}

  async run(handOvers: number, writersPerNode: number, writesBetween: number): Promise<HandOverCount> {
    const [first, second] = this.nodes;
    let lease = await heldSigner(this.lab, first);
    this.announce(first, lease);
    const writers = this.nodes.flatMap((node) => Array.from({ length: writersPerNode }, () => this.keepWriting(node)));
    // A writer that fails for another reason must end the test, not starve it.
    const failure = Promise.all(writers).then(() => undefined);
    failure.catch(() => (this.over = true));
    for (let i = 0; i < handOvers && !this.over; i++) {
      const [from, to] = i % 2 === 0 ? [first, second] : [second, first];
      await this.writesBeyond(this.writes + writesBetween);
      lease = await handOver(from, lease, to);
      this.seen.set(lease.token, await this.rowsUnder(lease.signer, lease.token - 1n));
      this.announce(to, lease);
    }
    this.over = true;
    this.news.open();
    await failure;
    return { handOvers, writes: this.writes, refused: this.refused, stale: await this.countStale(lease.signer) };
  }

  private async keepWriting(node: LabNode): Promise<void> {
    let refusedToken = 0n;
    while (!this.over) {
      const lease = this.current.get(node);
      if (!lease || lease.token === refusedToken) {
        await this.news.opened;
        continue;
      }
      try {
        await this.write(node, lease, this.nonce++);
        this.writes++;
      } catch (error) {
        if (!(error instanceof LeaseLost)) throw error;
        this.refused++;
        refusedToken = lease.token;
      }
    }
  }

  private announce(node: LabNode, lease: Lease): void {
    this.current.set(node, lease);
    const { open } = this.news;
    this.news = gate();
    open();
  }

  private writesBeyond(target: number): Promise<void> {
    return this.lab.until(async () => this.over || this.writes >= target);
  }

  private async rowsUnder({ chainId, address }: SignerId, token: bigint): Promise<number> {
    const [row] = await this.lab.observer.run<{ count: string }>(
      `SELECT count(*) FROM signer_nonce_allocation WHERE chain_id = $1 AND signer = $2 AND fencing_token = $3`,
      [chainId, address, token],
    );
    return Number(row?.count);
  }

  /** Rows are never deleted, so one that a later owner missed was missed by the next one too: it counts once. */
  private async countStale(signer: SignerId): Promise<number> {
    let stale = 0;
    for (const [token, seen] of this.seen) stale += (await this.rowsUnder(signer, token - 1n)) - seen;
    return stale;
  }
}
