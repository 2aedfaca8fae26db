import { HoldBehind } from '../../src/modules/lost-commits/index.js';
import { FillLeftFree } from '../../src/modules/nonces/application/fill-left-free.js';
import { SyncSigner } from '../../src/modules/nonces/application/sync-signer.js';
import { Database } from '../../src/platform/database/database.js';
import { DEV_CHAIN } from './builders.js';
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
    const goOn = async (): Promise<boolean> => {
      await this.lab.live(1, node);
      await this.fill(node);
      return isSo();
    };
    await until(what, goOn, 20_000);
  }

  /** What a node does by itself. */
  fill(node = this.lab.node): Promise<void> {
    return node.get(FillLeftFree).execute(DEV_CHAIN);
  }

  /** Until the next fill by itself has what it needs: a second look that shows a lower nonce. */
  async isLower(node = this.lab.node): Promise<void> {
    const isSo = () => node.get(HoldBehind).lower(DEV_CHAIN).length > 0;
    await until('the nonce is known to be lower', async () => (await node.step(), isSo()), 20_000);
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
