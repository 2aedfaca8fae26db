import type { Hash } from '../../../src/kernel/hex.js';
import { groupBy } from '../../../src/kernel/group-by.js';
import { type ChainId, signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { slotKey, type SlotRef } from '../../../src/modules/signers/index.js';
import type { TxEvent } from '../../../src/modules/events/index.js';
import type { FinalHeights } from '../../../src/modules/chain/index.js';
import {
  isFinal,
  ManagedTx,
  type ManagedTxRepository,
  type MinedTxs,
  type TxState,
} from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aManagedTx } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import type { ModelChain } from '../../support/model-chain.js';

/** As much of the repository as following the chain needs. It hands out copies, and keeps what is saved. */
export class TxsInMemory {
  /** Ids of what was saved, in order, with repetitions. */
  readonly saved: string[] = [];
  readonly events: TxEvent[] = [];
  /** Of what was saved: milliseconds to the next look for its receipt, where that was set. */
  readonly looksInMs: number[] = [];
  /** The door for writing to it. */
  readonly writes = new RecordedWrites();
  private readonly rows = new Map<string, TxProgress>();

  constructor() {
    this.writes.onWrite = ({ txs = [] }) => this.save(txs);
  }

  put(tx: ManagedTx): void {
    this.rows.set(tx.id, { ...tx.progress });
  }

  /** One block of the chain, and in it a tx of the signer that is final. */
  putFinal(chain: ModelChain, signer: SignerId, nonce: bigint): string {
    const txId = `${signer.address} ${nonce}`;
    const { hash: txHash } = chain.sendForeign(signer.address, nonce);
    const { number, hash } = chain.mine();
    const receipt = { txHash, blockNumber: number, blockHash: hash };
    const tx = aManagedTx({ txId, signer }).allocated(nonce).sent().mined(receipt).build();
    tx.settled('execution reverted', null);
    this.put(tx);
    return txId;
  }

  of(txId: string): TxProgress {
    const row = this.rows.get(txId);
    if (!row) throw new Error(`no such tx: ${txId}`);
    return row;
  }

  states(): TxState[] {
    return [...this.rows.values()].map(({ state }) => state);
  }

  asRepository(): ManagedTxRepository & MinedTxs {
    return this as unknown as ManagedTxRepository & MinedTxs;
  }

  async byIds(txIds: readonly string[]): Promise<ManagedTx[]> {
    return [...new Set(txIds)].map((txId) => ManagedTx.rehydrate(this.of(txId)));
  }

  /** The other txs of these slots that took part in a race. */
  async rivals(txs: readonly ManagedTx[]): Promise<ManagedTx[]> {
    const slots = new Set(txs.map(slotKey));
    const known = new Set(txs.map(({ id }) => id));
    return this.where(({ nonce }) => nonce !== null).filter(
      (tx) => tx.mayHaveRivals && !known.has(tx.id) && slots.has(slotKey(tx)),
    );
  }

  async minedUpTo(
    _chainId: ChainId,
    _signers: unknown,
    upTo: FinalHeights,
    { skip, limit }: { readonly skip: number; readonly limit: number },
  ): Promise<ManagedTx[]> {
    return this.where(({ state, receipt }) => state === 'MINED' && (receipt?.blockNumber ?? 0) <= upTo.byRule).slice(
      skip,
      skip + limit,
    );
  }

  async minedIn(_chainId: ChainId, _signers: unknown, blocks: readonly Hash[]): Promise<ManagedTx[]> {
    return this.where(
      ({ state, receipt }) => state === 'MINED' && receipt !== null && blocks.includes(receipt.blockHash),
    );
  }

  async finalIn(_chainId: ChainId, lowest: number, blocks: readonly Hash[]): Promise<ManagedTx[]> {
    return this.where(
      ({ state, receipt }) =>
        isFinal(state) && receipt !== null && receipt.blockNumber >= lowest && blocks.includes(receipt.blockHash),
    );
  }

  async newestFinal(_chainId: ChainId, below: readonly SlotRef[] | null, perSigner: number): Promise<ManagedTx[]> {
    const limits = below && new Map(below.map(({ signer, nonce }) => [signerKey(signer), nonce]));
    const final = this.where(({ state, receipt, signer, nonce }) => {
      const limit = limits ? (limits.get(signerKey(signer)) ?? 0n) : null;
      return isFinal(state) && receipt !== null && nonce !== null && (limit === null || nonce < limit);
    });
    return [...groupBy(final, ({ signer }) => signerKey(signer)).values()].flatMap((own) =>
      [...own].sort((a, b) => Number(b.nonce - a.nonce)).slice(0, perSigner),
    );
  }

  private save(txs: readonly ManagedTx[]): void {
    for (const tx of txs) {
      const { receiptCheck } = tx.timers;
      if (typeof receiptCheck === 'object') this.looksInMs.push(receiptCheck.inMs);
      this.put(tx);
      this.saved.push(tx.id);
      this.events.push(...tx.pendingEvents());
    }
  }

  private where(matches: (row: TxProgress) => boolean): ManagedTx[] {
    return [...this.rows.values()].filter(matches).map((row) => ManagedTx.rehydrate(row));
  }
}
