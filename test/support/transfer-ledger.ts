import { expect } from '@jest/globals';
import { callRpc } from '../../src/dev/json-rpc.js';
import { inSlices } from '../../src/kernel/in-slices.js';
import { readChain } from './chain-reader.js';
import type { Cluster } from './cluster.js';

const AT_ONCE = 64;
const GAS_OF_A_TRANSFER = '21000';

interface Transfer {
  readonly to: string;
  readonly value: bigint;
}

/** Transfers of one signer to accounts that nobody else pays, so that the balances say how often each was executed. */
export class TransferLedger {
  private readonly transfers: Transfer[] = [];

  constructor(
    private readonly cluster: Cluster,
    readonly signer: string,
    /** A byte that no other ledger of the same chain has. */
    private readonly mark: number,
  ) {}

  /** Creates `count` more, from many clients at once. @param more fields of each body */
  async create(count: number, more: Readonly<Record<string, unknown>> = {}): Promise<string[]> {
    const first = this.transfers.length;
    const created = Array.from({ length: count }, (_, n) => this.transferAt(first + n));
    this.transfers.push(...created);
    const txIds: string[] = [];
    for (const some of inSlices(created, AT_ONCE))
      txIds.push(...(await Promise.all(some.map((transfer) => this.post(transfer, more)))));
    return txIds;
  }

  /** Every one is CONFIRMED, and was executed once, on the nonces from `firstNonce` on, and nothing else of the signer is there. */
  async expectEachPaidOnce({
    firstNonce = 0,
    timeoutMs,
  }: { readonly firstNonce?: number; readonly timeoutMs?: number } = {}): Promise<void> {
    await this.cluster.confirmed(this.transfers.length, `${this.mark}-`, timeoutMs);
    const { rpcUrl } = this.cluster;
    const paid: bigint[] = [];
    for (const some of inSlices(this.transfers, AT_ONCE))
      paid.push(
        ...(await Promise.all(
          some.map(async ({ to }) => BigInt(String(await callRpc(rpcUrl, 'eth_getBalance', [to, 'latest'])))),
        )),
      );
    expect(paid).toEqual(this.transfers.map(({ value }) => value));
    const ours = (await readChain(rpcUrl)).filter(({ from }) => from.toLowerCase() === this.signer.toLowerCase());
    const nonces = ours.map(({ nonce }) => nonce).filter((nonce) => nonce >= firstNonce);
    expect(nonces.sort((a, b) => a - b)).toEqual(this.transfers.map((_, n) => firstNonce + n));
  }

  private transferAt(n: number): Transfer {
    const account = (BigInt(this.mark) << 64n) + BigInt(n) + 1n;
    return { to: `0x${account.toString(16).padStart(40, '0')}`, value: BigInt(n) + 1n };
  }

  private async post({ to, value }: Transfer, more: Readonly<Record<string, unknown>>): Promise<string> {
    const payload = { to, value: value.toString(), gasLimit: GAS_OF_A_TRANSFER };
    const body = { signer: this.signer, requestId: `${this.mark}-${value}`, payload, ...more };
    const answer = await this.cluster.post('/api/v1/tx', body);
    if (answer.status >= 300) throw new Error(`${body.requestId} was refused: ${JSON.stringify(answer)}`);
    return (answer.body as { txId: string }).txId;
  }
}
