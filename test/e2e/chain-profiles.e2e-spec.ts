import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { configFrom } from '../../src/config/index.js';
import { callRpc } from '../../src/dev/json-rpc.js';
import { DEV_ACCOUNTS, DEV_MNEMONIC, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const [POLYGON, BASE, UNKNOWN] = [137, 8_453, 4_242];
const DIFFERS = 'chain differs from the values in force';
const LINES = 'chain has no profile: these lines fit its entry in the config';

describe('a chain whose entry has no more than an id and endpoints', () => {
  let anvils: RunningAnvil[];
  let database: TestDatabase;
  let service: Service;

  const entry = (id: number, anvil: RunningAnvil | undefined) => ({ id, rpcUrls: [anvil?.url ?? ''] });

  beforeAll(async () => {
    [database, ...anvils] = await Promise.all([
      createTestDatabase(),
      ...[POLYGON, BASE, UNKNOWN].map((chainId) => startAnvil({ chainId })),
    ]);
    const [polygon, base, unknown] = anvils;
    if (polygon === undefined || unknown === undefined) throw new Error('no chain was started');
    // Two seconds apart, and more than the probe looks at: the first one comes when it comes. Not by the second argument of `anvil_mine`:
    // that adds what its clock shows, and one of them is three seconds apart when the mining goes beyond the end of a second.
    await callRpc(unknown.url, 'anvil_setBlockTimestampInterval', [2]);
    await callRpc(unknown.url, 'anvil_mine', ['0x82']);
    service = await Service.start({
      databaseUrl: database.url,
      rpcUrl: polygon.url,
      chain: { id: POLYGON },
      config: { confirmations: {} },
      moreChains: [
        { ...entry(BASE, base), signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC }] },
        entry(UNKNOWN, unknown),
      ],
    });
  });
  afterAll(async () => {
    await service.kill();
    await Promise.all([...anvils.map((anvil) => anvil.stop()), database.drop()]);
  });

  it('has the values of its profile, and the API says so', async () => {
    const { body } = await service.get(`/api/v1/chains/${BASE}`);
    expect(body).toMatchObject({
      chainId: BASE,
      name: { value: 'Base', from: 'profile' },
      blockTimeMs: { value: 2_000, from: 'profile' },
      pollIntervalMs: { value: 1_000, from: 'profile' },
      finality: { value: 'finalized', from: 'profile' },
      confirmations: { value: 20, from: 'default', source: null },
      l1DataFee: { value: 'optimism', from: 'profile' },
      inFlightStart: { value: 64, from: 'default', source: null },
      transactionGasCap: { value: 16_777_216, from: 'profile', source: expect.stringContaining('docs.base.org') },
    });
    const list = await service.get<{ items: { chainId: number }[] }>('/api/v1/chains');
    expect(list.body.items.map(({ chainId }) => chainId)).toEqual([POLYGON, BASE, UNKNOWN]);
    expect(list.body.items[1]).toEqual(body);
    const unknown = await service.get('/api/v1/chains/5');
    expect(unknown).toMatchObject({ status: 404, body: { code: 'unknown_chain' } });
    expect((await service.get('/api/v1/chains/base')).body).toMatchObject({ code: 'invalid_chain_id' });
  });

  it('sends with the least tip of its profile', async () => {
    const shown = await service.get(`/api/v1/chains/${POLYGON}`);
    expect(shown.body).toMatchObject({
      pollIntervalMs: { value: 100, from: 'config' },
      minPriorityFeePerGas: { value: '30000000000', from: 'profile' },
      confirmations: { value: 500, from: 'profile' },
    });
    const { body } = await service.get<{ speeds: Record<string, { maxPriorityFeePerGas: string }> }>(
      `/api/v1/chains/${POLYGON}/fees`,
    );
    expect(body.speeds['slow']?.maxPriorityFeePerGas).toBe('30000000000');
  });

  it('sends also where its endpoint has no GasPriceOracle, and only the profile says that there is one', async () => {
    const [signer] = DEV_ACCOUNTS;
    const request = { chainId: BASE, signer, requestId: 'on-base', payload: { to: signer, value: '1' } };
    const { body } = await service.post<{ txId: string }>('/api/v1/tx', request);
    await until('it is mined', async () => {
      const tx = await service.get<{ state: string }>(`/api/v1/tx/${body.txId}`);
      return tx.body.state === 'MINED';
    });
  });

  it('is warned of once where its endpoint shows something else', async () => {
    await until(
      'the chains were probed',
      async () => service.logged(LINES).length > 0 && service.logged(DIFFERS).length > 0,
    );
    // An anvil with the id of Base has no GasPriceOracle.
    expect(service.logged(DIFFERS)).toMatchObject([{ chainId: BASE, field: 'l1DataFee', inForce: 'optimism' }]);
  });

  it('is probed when it has no profile, and the log has lines that its entry can have', async () => {
    await until('the chain was probed', async () => service.logged(LINES).length > 0);
    const logged = service.logged(LINES);
    expect(logged).toMatchObject([{ chainId: UNKNOWN }]);
    const lines = (logged[0]?.['lines'] ?? []) as string[];
    const file = ['database: { url: postgres://db/x }', 'chains:', `  - { id: ${UNKNOWN}, rpcUrls: [http://a] }`];
    const plain = configFrom(parse(file.join('\n')));
    const withLines = [
      ...file.slice(0, 2),
      `  - id: ${UNKNOWN}`,
      '    rpcUrls: [http://a]',
      ...lines.map((line) => `    ${line}`),
    ];
    expect(configFrom(parse(withLines.join('\n'))).chains).toEqual([
      {
        ...plain.chains[0],
        pollInterval: 1_000,
        maxLag: 5,
        l1DataFee: 'none',
        confirmations: { finality: 'finalized' },
      },
    ]);
    expect(lines[0]).toBe(
      '# block time: 2000 ms; fees: eip1559; tags: safe, finalized; batches: yes; missing methods: none',
    );
    const { body } = await service.get(`/api/v1/chains/${UNKNOWN}`);
    expect(body).toMatchObject({
      name: { value: null, from: 'default' },
      blockTimeMs: { value: 2_000, from: 'probed' },
      feeType: { value: 'eip1559', from: 'probed' },
      finality: { value: 'depth', from: 'default' },
    });
  });
});
