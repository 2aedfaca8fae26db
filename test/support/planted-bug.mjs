import { register } from 'node:module';

/**
 * The built app with one protection taken away: NODE_OPTIONS=--import=<this file> and PLANTED_BUG=<name>. A last line of the bundle hands over
 * its classes, which are changed before the app is put together; what is not found there any more ends the process, so that no bug goes unplanted.
 */
register('./planted-bug-hooks.mjs', import.meta.url);

/** @returns what stood there before */
function replace(Class, method, substitute) {
  const original = Class.prototype[method];
  if (typeof original !== 'function') throw new Error(`${Class.name} has no ${method} to take away`);
  Class.prototype[method] = substitute;
  return original;
}

const key = ({ chainId, address }) => `${chainId}:${address}`;

const BUGS = {
  /** Believes whoever says that it holds a lease. */
  'no-fence': ({ PgFencedUnitOfWork }) => replace(PgFencedUnitOfWork, 'lockAll', async () => []),

  /** Knows the next nonce by heart, and takes slots whatever they are. */
  'cursor-in-memory'({ PgNonceLedger }) {
    const cursors = new Map();
    const read = replace(PgNonceLedger, 'read', async function (...asked) {
      const states = await read.apply(this, asked);
      return states.map((state) => ({ ...state, cursor: cursors.get(key(state.signer)) ?? state.cursor }));
    });
    replace(PgNonceLedger, 'hold', async (fence, slots, moves) => {
      for (const { signer, nonce, txId } of slots)
        await fence.tx.query(
          {
            name: 'unguarded_hold',
            text: `INSERT INTO signer_nonce_allocation (chain_id, signer, nonce, status, tx_id, fencing_token) VALUES ($1, $2, $3, 'HELD', $4, $5)
                       ON CONFLICT (chain_id, signer, nonce) DO UPDATE SET status = 'HELD', tx_id = excluded.tx_id`,
          },
          [signer.chainId, signer.address, nonce, txId, fence.tokenFor(signer)],
        );
      for (const { from, to } of moves) cursors.set(key(from.signer), to);
    });
  },

  /** Requeues every payload without a known outcome and calls its slot used, so that no fill outbids what may be out. */
  'requeueing-recovery': ({ RecoverLane }) =>
    replace(RecoverLane, 'execute', async function (_chain, leases) {
      await this.sign.write.unitOfWork.run(leases, 'requeue', async (fence) => {
        for (const { signer } of leases)
          await fence.tx.query(
            {
              name: 'requeue',
              text: `WITH gone AS (UPDATE managed_tx SET state = 'PENDING', nonce = NULL, version = version + 1, next_resubmit_at = NULL
                                    WHERE signer = $1 AND state = 'ALLOCATED' RETURNING tx_id)
                     UPDATE signer_nonce_allocation s SET status = 'CONSUMED', tx_id = NULL FROM gone WHERE s.tx_id = gone.tx_id`,
            },
            [signer.address],
          );
      });
    }),
};

const plant = BUGS[process.env['PLANTED_BUG'] ?? ''];
if (plant === undefined) throw new Error('PLANTED_BUG names no bug');
globalThis.plantBug = (classes) => {
  plant(classes);
  process.stdout.write(`${JSON.stringify({ level: 'warn', msg: 'bug planted', bug: process.env['PLANTED_BUG'] })}\n`);
};
