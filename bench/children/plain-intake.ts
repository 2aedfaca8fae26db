import { randomUUID } from 'node:crypto';
import { fastify } from 'fastify';
import { Pool } from 'pg';

/*
 * The yardstick of the intake, in a process of its own: a bare Fastify handler that takes the same body and writes one
 * row of the same table, one statement and one commit for each request; and one that writes nothing. It checks nothing.
 */

interface Body {
  readonly signer: string;
  readonly requestId: string;
  readonly payload: { readonly to: string; readonly data: string; readonly gasLimit: string };
}

const INSERT = {
  name: 'plain_insert',
  text: `INSERT INTO plain_intake (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, state)
         VALUES ($1, 31337, $2, $3, $4, $5, 0, decode(substr($6, 3), 'hex'), $7, 0, 'PENDING')`,
};
const SOME_HASH = `0x${'0'.repeat(64)}`;

const [databaseUrl, connections] = process.argv.slice(2);
if (databaseUrl === undefined) throw new Error('the first argument is the URL of the database');
const pool = new Pool({ connectionString: databaseUrl, max: Number(connections) });
const app = fastify();

app.post<{ Body: Body }>('/insert', async ({ body }, reply) => {
  const txId = randomUUID();
  const { to, data, gasLimit } = body.payload;
  const options = JSON.stringify({ gasLimit });
  const values = [txId, body.signer.toLowerCase(), body.requestId, SOME_HASH, to.toLowerCase(), data, options];
  await pool.query({ ...INSERT, values });
  return reply.status(202).send({ txId, state: 'PENDING' });
});

app.post<{ Body: Body }>('/nothing', async (_request, reply) =>
  reply.status(202).send({ txId: randomUUID(), state: 'PENDING' }),
);

const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.(url);
// Its parent is gone, in whatever way.
process.once('disconnect', () => process.exit());
