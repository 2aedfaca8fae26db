import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Client } from 'pg';
import {
  DOUBT_UNSENT,
  OUTLOOK,
  WITH_PAYLOAD,
  WAITING_SINCE,
} from '../../src/modules/ledger/infrastructure/pg-lost-commits.repository.js';
import { HAS_QUEUED } from '../../src/modules/commands/infrastructure/command.statements.js';
import { NO_PAYLOAD } from '../../src/modules/ledger/domain/tx-request.js';
import { LOWEST_UNMINED, WAITING_HOLDS } from '../../src/modules/ledger/infrastructure/pg-txs-in-flight.js';
import { Database } from '../../src/platform/database/database.js';
import { SESSION_OPTIONS } from '../../src/platform/database/session-settings.js';
import { aHash, aSigner, DEV_CHAIN } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';
import { planNow, touchedBy } from '../support/plan.js';

let client: Client;
// Before those of the lab, which ends its database.
afterEach(() => client.end());

const lab = nodeLab();
beforeEach(async () => {
  const { options } = lab.node.get(Database).dataSource;
  client = new Client({ connectionString: 'url' in options ? options.url : undefined, options: SESSION_OPTIONS });
  await client.connect();
});
const FINISHED = 50_000;
const { address } = aSigner(1);

async function finishMany(): Promise<void> {
  await client.query(
    `INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state, nonce, tx_hash, receipt, block_number, block_hash)
     SELECT gen_random_uuid(), $1, $2, 'finished-' || n, $3::text, 0, '', '{"speed": "standard"}', 0, 'CONFIRMED', 100 + n, $3::text, '{}', 1, $3::text
       FROM generate_series(1, $4::int) AS n`,
    [DEV_CHAIN, address, aHash(7), FINISHED],
  );
  await client.query(
    `INSERT INTO tx_attempt (chain_id, tx_hash, signer, nonce, tx_id, kind, raw, gas_limit, max_fee_per_gas, max_priority_fee_per_gas, status, fencing_token)
     SELECT chain_id, '0x' || lpad(to_hex(nonce), 64, '0'), signer, nonce, tx_id, 'payload', '', 1, 1, 1, 'MINED', 1
       FROM managed_tx WHERE state = 'CONFIRMED'`,
  );
  await client.query('ANALYZE');
}

it('whoever takes over a signer reads nothing of what is finished', async () => {
  await lab.create(1);
  await finishMany();
  const asked = [
    { statement: OUTLOOK, values: [[DEV_CHAIN], [address]], args: [`'{${DEV_CHAIN}}'`, `'{${address}}'`] },
    {
      statement: LOWEST_UNMINED,
      values: [[DEV_CHAIN], [address], 11],
      args: [`'{${DEV_CHAIN}}'`, `'{${address}}'`, '11'],
    },
    { statement: WAITING_SINCE, values: [DEV_CHAIN, address], args: [String(DEV_CHAIN), `'${address}'`] },
    {
      statement: WITH_PAYLOAD,
      values: [DEV_CHAIN, address, [null], [0], ['0x'], 100],
      args: [String(DEV_CHAIN), `'${address}'`, `'{NULL}'`, `'{0}'`, `'{0x}'`, '100'],
    },
    {
      statement: DOUBT_UNSENT,
      values: [DEV_CHAIN, address, 1, []],
      args: [String(DEV_CHAIN), `'${address}'`, '1', `'{}'`],
    },
  ];
  for (const { statement, values, args } of asked) {
    await planNow(client, statement, values);
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await client.query(`SET plan_cache_mode = ${mode}`);
      const { rows } = await touchedBy(client, statement, args);
      expect({ statement: statement.name, mode, readsFew: rows < FINISHED / 100, rows }).toMatchObject({
        readsFew: true,
      });
    }
  }
});

it('a hold of which much was said is looked at without reading that, nor what waits of others', async () => {
  const hold = { ttl: 600, count: 1, index: 0 };
  const txId = await lab.create(1, { hold, payload: NO_PAYLOAD });
  await lab.node.step();
  await client.query(
    `INSERT INTO tx_command (command_id, chain_id, signer, tx_id, kind, request_id, request_hash, status)
     SELECT gen_random_uuid(), $1, $2, $3, 'extend', 'said-' || n, $4, 'DONE' FROM generate_series(1, $5::int) AS n`,
    [DEV_CHAIN, address, txId, aHash(7), FINISHED],
  );
  await client.query(
    `INSERT INTO tx_command (command_id, chain_id, signer, tx_id, kind, request_id, request_hash, status)
     SELECT gen_random_uuid(), $1, $2, gen_random_uuid(), 'cancel', 'waits-' || n, $3, 'QUEUED' FROM generate_series(1, $4::int) AS n`,
    [DEV_CHAIN, address, aHash(7), FINISHED],
  );
  await client.query(`UPDATE managed_tx SET expires_at = clock_timestamp()`);
  await client.query('ANALYZE');
  const asked = [
    { statement: WAITING_HOLDS, values: [DEV_CHAIN, [address], 5], args: [`${DEV_CHAIN}`, `'{${address}}'`, '5'] },
    { statement: HAS_QUEUED, values: [txId, 'extend'], args: [`'${txId}'`, `'extend'`] },
  ];
  for (const { statement, values, args } of asked) {
    await planNow(client, statement, values);
    const { rows } = await touchedBy(client, statement, args);
    expect({ statement: statement.name, readsFew: rows < 10, rows }).toMatchObject({ readsFew: true });
  }
});
