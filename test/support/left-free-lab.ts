import { SyncSigner } from '../../src/modules/nonces/application/sync-signer.js';
import { Database } from '../../src/platform/database/database.js';
import type { ModelTx } from './model-chain.js';
import type { NodeLab } from './node-lab.js';
import { tagged } from './send-faults.js';
import type { TestNode } from './test-node.js';
import { until } from './until.js';

/** On a chain that puts a failed transaction into a block and leaves its nonce free (docs/invariants.md, K8). */
export class LeftFreeLab {
  constructor(private readonly lab: NodeLab) {}

  /** Life goes on until something is so; the pauses of a held signer are real time. */
  async goOnUntil(what: string, isSo: () => Promise<boolean>, node = this.lab.node): Promise<void> {
    await until(what, async () => (await this.lab.live(1, node), isSo()), 20_000);
  }

  sync({ dryRun = false, node = this.lab.node, atMost = 1_000 }: SyncOptions = {}) {
    return node.get(SyncSigner).execute(node.signer(), atMost, false, dryRun);
  }

  isHeld = async (): Promise<boolean> => {
    const text = 'SELECT behind IS NOT NULL AS held FROM signer_nonce_cursor';
    const { rows } = await this.lab.node.get(Database).query<{ held: boolean }>({ name: 'test_held', text }, []);
    return rows[0]?.held === true;
  };

  areConfirmed = (ids: readonly string[]) => async (): Promise<boolean> =>
    (await this.lab.states(ids)).every((state) => state === 'CONFIRMED');

  /** The first bytes of the payload with this tag. */
  bytesOf(tag: number): ModelTx {
    const found = this.lab.chain.sent.find(({ data }) => data === tagged(tag));
    if (!found) throw new Error('it was never sent');
    return found;
  }

  /** After it failed once. */
  executionsOf(tag: number): number {
    return this.lab.minedWith(tag).length - 1;
  }
}

interface SyncOptions {
  readonly dryRun?: boolean;
  readonly node?: TestNode;
  readonly atMost?: number;
}
