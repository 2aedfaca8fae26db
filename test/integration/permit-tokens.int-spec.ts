import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Interface } from 'ethers';
import { ANYONE } from '../../src/kernel/caller.js';
import { type Address, type Hex, parseAddress } from '../../src/kernel/hex.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { ChangePolicy } from '../../src/modules/ops/application/change-policy.js';
import { toPolicy } from '../../src/modules/policies/index.js';
import type { CreateTxDto } from '../../src/modules/requests/infrastructure/http/create-tx.dto.js';
import { toTxRequest } from '../../src/modules/requests/index.js';
import { Database } from '../../src/platform/database/database.js';
import { startAnvil } from '../support/anvil.js';
import { DEV_CHAIN } from '../support/builders.js';
import { knowNonce } from '../support/known-nonce.js';
import { makeWaitingDue } from '../support/node-lab.js';
import { onProxiedNode, type ProxiedStage } from '../support/on-proxied-node.js';
import { compileSolidity } from '../support/solidity.js';

const SOURCE = `
  // SPDX-License-Identifier: MIT
  pragma solidity ^0.8.20;
  import "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
  contract Token is ERC20Permit {
    constructor() ERC20("Coin", "C") ERC20Permit("Coin") {}
    function mint(address to, uint256 value) external { _mint(to, value); }
    function spoil(address owner) external { _useNonce(owner); }
  }
  contract Puller {
    function pull(ERC20Permit token, address owner, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
      token.permit(owner, address(this), value, deadline, v, r, s);
      token.transferFrom(owner, msg.sender, value);
    }
  }`;
const TOKEN = new Interface([
  'function mint(address, uint256)',
  'function spoil(address)',
  'function balanceOf(address) view returns (uint256)',
  'function nonces(address) view returns (uint256)',
]);
/** Unlocked by anvil, and no signer here. */
const DEPLOYER = '0xa0ee7a142d267c1f36714e4a8f75612f20a79720';

let compiled: Readonly<Record<string, Hex>>;
let stage: ProxiedStage;
let lab: ProxiedStage['lab'];
let [token, puller]: Address[] = [];
let [owner, first, second]: SignerId[] = [];

beforeAll(() => {
  compiled = compileSolidity(SOURCE);
});

onProxiedNode(
  () => startAnvil({ extraArgs: ['--no-mining'] }),
  (given) => {
    stage = given;
    ({ lab } = given);
  },
);

async function send(to: Address | null, data: string): Promise<Record<string, string>> {
  const hash = await lab.ask('eth_sendTransaction', { from: DEPLOYER, data, gas: '0x500000', ...(to && { to }) });
  await lab.mine();
  return (await lab.ask('eth_getTransactionReceipt', hash)) as Record<string, string>;
}

async function read(name: string, of: SignerId): Promise<bigint> {
  const data = TOKEN.encodeFunctionData(name, [of.address]);
  return BigInt(String(await lab.ask('eth_call', { to: token, data }, 'latest')));
}

const balanceOf = (of: SignerId) => read('balanceOf', of);
const nonceOf = (of: SignerId) => read('nonces', of);

beforeEach(async () => {
  const { node } = lab;
  [owner, first, second] = [1, 0, 2].map((n) => node.signer(n));
  for (const signer of [owner, second]) if (signer) await knowNonce(node, stage.chain.url, signer);
  token = parseAddress((await send(null, compiled['Token'] ?? ''))['contractAddress'] ?? '');
  puller = parseAddress((await send(null, compiled['Puller'] ?? ''))['contractAddress'] ?? '');
  if (!owner) throw new Error('no owner');
  await send(token, TOKEN.encodeFunctionData('mint', [owner.address, 1_000n]));
  const policy = toPolicy({ typedData: [`${token}/Permit`] });
  await node.get(ChangePolicy).execute({ signer: owner, policy, version: 0, by: ANYONE });
  await node.follow();
  await turn();
});

async function turn(): Promise<void> {
  const signers = [owner, first, second].flatMap((signer) => signer ?? []);
  await lab.node.permits();
  await makeWaitingDue(lab.node);
  await lab.node.step(...signers);
}

async function pulling(by: SignerId, value: number): Promise<string> {
  const part = (name: string) => ({ $permit: 0, part: name });
  const args = [token, owner?.address, String(value), ...['deadline', 'v', 'r', 's'].map(part)];
  const call = { function: 'pull(address,address,uint256,uint256,uint8,bytes32,bytes32)', args };
  const permit = { kind: 'eip2612', owner: owner?.address, token, name: 'Coin', spender: puller, value: String(value) };
  const payload = { to: puller, call, permits: [permit] };
  const body = { signer: by.address, requestId: `pull-${value}`, payload } as unknown as CreateTxDto;
  return (await lab.node.create(toTxRequest(body, DEV_CHAIN, undefined, ANYONE))).txId;
}

async function confirmed(...txIds: readonly string[]): Promise<void> {
  await lab.mine(4);
  await lab.node.follow();
  await lab.mine();
  await lab.node.follow();
  expect(await lab.states(txIds)).toEqual(txIds.map(() => 'CONFIRMED'));
}

const run = (text: string): Promise<{ row: string }[]> => lab.node.get(Database).dataSource.query(text);

const rows = async (): Promise<string[]> => {
  const text = `SELECT coalesce(nonce::text, '-') || ' ' || status AS row FROM permit_nonce ORDER BY created_at`;
  return (await run(text)).map(({ row }) => row);
};

it('a token takes permits that two senders carry, one after the other', async () => {
  if (!owner || !first || !second) throw new Error('no signers');
  const ids = [await pulling(first, 30), await pulling(second, 12)];
  for (let round = 0; round < 3; round += 1) await turn();
  expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'PENDING']);
  await lab.mine();
  await lab.node.follow();
  for (let round = 0; round < 3; round += 1) await turn();
  await confirmed(...ids);
  await lab.node.permits();
  // There is one endpoint, so it has to tell it twice.
  expect(await rows()).toEqual(['0 HELD', '1 HELD']);
  await lab.mine();
  await run(`UPDATE permit_nonce SET due_at = clock_timestamp()`);
  await lab.node.permits();
  expect([await balanceOf(first), await balanceOf(second), await balanceOf(owner)]).toEqual([30n, 12n, 958n]);
  expect([await nonceOf(owner), await rows()]).toEqual([2n, ['0 CONSUMED', '1 CONSUMED']]);
});

it('a permit whose nonce was used from outside before its tx was sent is made anew, and its tx is executed', async () => {
  if (!owner || !first) throw new Error('no signers');
  const before = await nonceOf(owner);
  const txId = await pulling(first, 7);
  await turn();
  await lab.node.permits();
  expect(await rows()).toEqual([`${before} HELD`]);
  const { payload } = await lab.node.tx(txId);
  expect(payload.permits).toMatchObject([{ permitNonce: String(before), owner: owner.address }]);
  await send(token ?? null, TOKEN.encodeFunctionData('spoil', [owner.address]));
  for (let look = 0; look < 2; look += 1) {
    await makeWaitingDue(lab.node);
    await lab.node.step(first);
    await lab.mine();
  }
  expect(await lab.states([txId])).toEqual(['PENDING']);
  for (let round = 0; round < 2; round += 1) await turn();
  await confirmed(txId);
  expect([await balanceOf(first), await nonceOf(owner)]).toEqual([7n, before + 2n]);
});
