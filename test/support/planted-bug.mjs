/**
 * The built app with one protection taken away: NODE_OPTIONS=--import=<this file> and PLANTED_BUG=<name>. It changes compiled
 * classes before the app is put together; what is not found there any more ends the process, so that no bug goes unplanted.
 */
const DIST = new URL('../../dist/modules/', import.meta.url);

/** @returns what stood there before */
async function replace(file, name, method, substitute) {
  const { [name]: Class } = await import(new URL(file, DIST).href);
  const original = Class?.prototype?.[method];
  if (typeof original !== 'function') throw new Error(`${file} has no ${name}.${method} to take away`);
  Class.prototype[method] = substitute;
  return original;
}

const key = ({ chainId, address }) => `${chainId}:${address}`;

const BUGS = {
  /** Believes whoever says that it holds a lease. */
  'no-fence': () =>
    replace('signers/infrastructure/pg-fenced-unit-of-work.js', 'PgFencedUnitOfWork', 'lockAll', async () => []),

  /** Knows the next nonce by heart, and takes slots whatever they are. */
  async 'cursor-in-memory'() {
    const file = 'signers/infrastructure/pg-nonce-ledger.js';
    const cursors = new Map();
    const read = await replace(file, 'PgNonceLedger', 'read', async function (...asked) {
      const states = await read.apply(this, asked);
      return states.map((state) => ({ ...state, cursor: cursors.get(key(state.signer)) ?? state.cursor }));
    });
    await replace(file, 'PgNonceLedger', 'hold', async (fence, slots, moves) => {
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
  'requeueing-recovery': () =>
    replace('lanes/application/resume-lanes.js', 'RecoverLane', 'execute', async function (_chain, leases) {
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
await plant();
process.stdout.write(`${JSON.stringify({ level: 'warn', msg: 'bug planted', bug: process.env['PLANTED_BUG'] })}\n`);
