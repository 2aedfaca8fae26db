import { keccak256 } from 'ethers';
import { ANYONE } from '../../src/kernel/caller.js';
import { Conflict } from '../../src/kernel/errors.js';
import { parseAddress, parseHash, parseHex } from '../../src/kernel/hex.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { type CommandInput, SubmitCommand } from '../../src/modules/commands/application/submit-command.js';
import { NO_PAYLOAD } from '../../src/modules/ledger/index.js';
import { aRequest, DEV_CHAIN } from '../support/builders.js';
import { devWallet } from '../support/dev-wallets.js';
import { FOREIGN_DATA, type ModelTx } from '../support/model-chain.js';
import type { Network } from './network/network.js';
import { Random } from './random.js';
import type { SimNode } from './sim-node.js';
import type { Snapshot, TxRow } from './snapshot.js';
import { Violation } from './violation.js';
import type { SimChain } from './sim-chain.js';
import type { Seen } from './seen.js';

/** Each that is never used costs the looks of some blocks before what is behind it goes on. */
const MOST_HOLDS = 6;
const TTL_SECONDS = [300, 900, 3_000] as const;
const MORE_SECONDS = 1_200;
const GAS_LIMIT = 21_000n;
const MAX_FEE = 100_000_000_000n;
const TIP = 2_000_000_000n;
const ENDED = new Set(['CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED']);
const LIVE = new Set(['ALLOCATED', 'IN_MEMPOOL', 'MINED']);
/** So that what else a seed says stays as it was. */
const SALT = 0x6f757473;

/** What a sender does with its nonce. `dies`: it says nothing, and sends nothing. */
const PLANS = ['sends', 'names and sends', 'sends and names', 'gives back', 'dies'] as const;

/** What they need of the world. */
interface Surroundings {
  readonly network: Network;
  readonly chain: SimChain;
  readonly seen: Seen;
  readonly signers: readonly SignerId[];
  readonly snapshot: Snapshot;
  awake(): SimNode[];
  note(words: string): void;
  unblocked(work: Promise<unknown>, worker: SimNode): Promise<void>;
}

interface Hold {
  readonly requestId: string;
  /** Of the signers of the world. */
  readonly signer: number;
  readonly ttl: number;
  readonly plan: (typeof PLANS)[number];
  /** Null until a node has answered. */
  txId: string | null;
  /** The nonce that its sender was told. */
  nonce: number | null;
  /** What its sender has signed; some pool took it. */
  sent: ModelTx | null;
  /** Its sender named its transaction, and a node has stored that. */
  isNamed: boolean;
  isGivenBack: boolean;
  /** Nobody can know any more what its sender was promised, or did: the database lost it, or no pool showed what was sent and not named. */
  isLost: boolean;
}

/** Systems that have our keys, too: they reserve nonces, and sign and send themselves. They keep to what they were promised. */
export class OutsideSenders {
  private readonly holds: Hold[] = [];
  private readonly random: Random;

  constructor(
    private readonly world: Surroundings,
    seed: number,
  ) {
    this.random = new Random(seed ^ SALT);
  }

  /** One more hold, or one whose request had no answer, with the same key. */
  async reserve(): Promise<void> {
    const node = this.anyNode();
    const hold = this.holds.find(({ txId, isLost }) => txId === null && !isLost) ?? this.newHold();
    const signer = hold && this.world.signers[hold.signer];
    if (!node || !hold || !signer) return;
    const { requestId, ttl } = hold;
    this.note(`reserves ${requestId} (${hold.plan}, ${ttl} s) at ${node.id}`);
    const request = { ...aRequest({ signer, requestId, payload: NO_PAYLOAD }), hold: { ttl, count: 1, index: 0 } };
    const { txId } = await this.answered(node, node.create(request));
    if (hold.txId !== null && hold.txId !== txId) fail('I3', `${requestId} made ${hold.txId} and ${txId}`);
    hold.txId = txId;
  }

  /** The next thing that one of the senders does. */
  async use(): Promise<void> {
    const { snapshot } = this.world;
    const usable = this.holds.flatMap((hold) => {
      const row = rowOf(hold, snapshot);
      return row && row.nonce !== null && !ENDED.has(row.state) && !hold.isLost ? [{ hold, row }] : [];
    });
    if (usable.length === 0 || this.random.chance(0.3)) return this.reserve();
    const { hold, row } = this.random.pick(usable);
    hold.nonce = row.nonce;
    if (this.random.chance(0.15)) return void (await this.say(hold, 'extend', { ttl: MORE_SECONDS }));
    switch (hold.plan) {
      case 'sends':
        return this.send(hold, row);
      case 'names and sends':
        return hold.isNamed ? this.send(hold, row) : this.name(hold, row);
      case 'sends and names':
        return hold.sent ? this.name(hold, row) : this.send(hold, row);
      case 'gives back':
        // Whether or not this is answered, its sender sends nothing.
        hold.isGivenBack = true;
        await this.say(hold, 'release');
        return;
      case 'dies':
        return;
    }
  }

  /** Those who have something to send send it, and offer it again, as wallets do. */
  async goOn(): Promise<void> {
    for (const hold of this.holds) {
      const row = rowOf(hold, this.world.snapshot);
      const isToSend = hold.isNamed || hold.plan === 'sends' || hold.plan === 'sends and names';
      if (row && row.nonce !== null && isToSend && !hold.isLost) await this.send(hold, row);
    }
  }

  /** The database has lost commits. */
  forget(before: Snapshot, now: Snapshot): void {
    for (const hold of this.holds) {
      const [was, is] = [rowOf(hold, before), rowOf(hold, now)];
      const isSame = was !== undefined && is !== undefined && was.nonce === is.nonce && was.state === is.state;
      const isNamed = now.commands.some(({ tx, kind }) => tx === hold.txId && kind === 'consume');
      if (!isSame || was.endsAt !== is.endsAt || (hold.isNamed && !isNamed)) hold.isLost = true;
    }
  }

  /** What must hold after every action. */
  check(now: Snapshot): void {
    const { network, chain } = this.world;
    for (const hold of this.holds) {
      const { txId, nonce, sent } = hold;
      const row = rowOf(hold, now);
      if (txId === null || hold.isLost) continue;
      if (!row) return fail('I3', `hold ${txId} was promised, and is gone`);
      if (nonce !== null && row.nonce !== nonce && (row.nonce !== null || row.state === 'PENDING'))
        fail('I16', `hold ${txId} had nonce ${nonce}, and is ${row.state} with ${row.nonce}`);
      if (sent && !hold.isNamed && row.state === 'ALLOCATED' && !isShown(sent, network)) hold.isLost = true;
      if (hold.isLost || row.nonce === null) continue;
      if (!isTheirs(hold, row, chain.seconds) || chain.hadRival(row, sent?.hash)) continue;
      const other = now.txs.find((tx) => tx.id !== txId && isLiveAt(tx, row));
      if (other)
        fail('I16', `nonce ${row.nonce} is of hold ${txId} (${hold.plan}), and ${other.kind} ${other.id} has it`);
      if (ENDED.has(row.state) && row.block === null)
        fail('I16', `hold ${txId} (${hold.plan}) ended ${row.state} (${row.reason}), and its sender may use its nonce`);
    }
  }

  /** What must hold in the end: the chain decides about each. */
  checkEnd(end: Snapshot): void {
    const { chain, seen } = this.world;
    for (const hold of this.holds) {
      const row = rowOf(hold, end);
      if (!row || hold.isLost) continue;
      const user = chain.minedBy(parseAddress(row.signer), BigInt(row.nonce ?? -1))?.tx;
      const isOwn = hold.sent !== null && user?.hash === hold.sent.hash;
      seen.note(`a hold of a sender that ${hold.plan}: ${row.state}`);
      if (isOwn && (row.state !== 'CONFIRMED' || row.hash !== user.hash))
        fail('I9', `hold ${row.id} is ${row.state} (${row.reason}), and ${user.hash} of its sender is on chain`);
      if (!isOwn && row.state === 'CONFIRMED' && row.hash !== user?.hash)
        fail('I9', `hold ${row.id} is CONFIRMED with ${row.hash}, and the chain has ${user?.hash}`);
    }
  }

  private newHold(): Hold | null {
    if (this.holds.length >= MOST_HOLDS) return null;
    const hold: Hold = {
      requestId: `hold-${this.holds.length + 1}`,
      signer: this.random.between(0, this.world.signers.length - 1),
      ttl: this.random.pick(TTL_SECONDS),
      plan: this.random.pick(PLANS),
      ...{ txId: null, nonce: null, sent: null, isNamed: false, isGivenBack: false, isLost: false },
    };
    this.holds.push(hold);
    return hold;
  }

  /** To some of the endpoints, as long as the nonce is its own. */
  private async send(hold: Hold, row: TxRow): Promise<void> {
    const { network, chain } = this.world;
    const signer = this.world.signers[hold.signer];
    if (!signer || row.nonce === null || !isTheirs(hold, row, chain.seconds)) return;
    const tx = await this.signed(hold, row.nonce);
    for (const { pool, head, isolated } of this.random.some(network.endpoints))
      if (!isolated && tx.nonce >= head.countOf(tx.from) && pool.take(tx, head) === 'taken') hold.sent = tx;
    if (hold.sent) this.note(`sends ${tx.hash} with nonce ${row.nonce} of ${hold.requestId}`);
  }

  private async name(hold: Hold, { nonce }: TxRow): Promise<void> {
    if (hold.isNamed || nonce === null) return;
    const { hash } = await this.signed(hold, nonce);
    hold.isNamed = await this.say(hold, 'consume', { txHash: hash });
  }

  private async signed({ signer }: Hold, nonce: number): Promise<ModelTx> {
    const raw = await devWallet(signer).signTransaction({
      ...{ type: 2, chainId: DEV_CHAIN, nonce, to: devWallet(signer).address, data: FOREIGN_DATA },
      ...{ gasLimit: GAS_LIMIT, maxFeePerGas: MAX_FEE, maxPriorityFeePerGas: TIP },
    });
    const tx = this.world.chain.decode(parseHex(raw));
    this.world.chain.signedOutside.add(tx.hash);
    return tx;
  }

  /** @returns whether a node has stored it */
  private async say(
    { requestId, txId }: Hold,
    kind: 'consume' | 'release' | 'extend',
    more: Pick<CommandInput, 'txHash' | 'ttl'> = {},
  ): Promise<boolean> {
    const node = this.anyNode();
    if (!node || txId === null) return false;
    this.note(`says ${kind} of ${requestId} at ${node.id}`);
    const key = `${kind}-${requestId}`;
    const requestHash = parseHash(keccak256(Buffer.from(key)));
    const input = { txId, sender: ANYONE, kind, requestId: key, requestHash, fees: null, request: null, ...more };
    try {
      await this.answered(node, node.get(SubmitCommand).execute(input));
      return true;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      this.world.seen.note(`hold ${kind} refused: ${error.code}`);
      return false;
    }
  }

  /** As every request of a client: what is in its way is let go. */
  private async answered<T>(node: SimNode, asked: Promise<T>): Promise<T> {
    await this.world.unblocked(Promise.allSettled([asked]), node);
    return asked;
  }

  private anyNode(): SimNode | null {
    const awake = this.world.awake();
    return awake.length === 0 ? null : this.random.pick(awake);
  }

  private note(words: string): void {
    this.world.note(`an outside sender ${words}`);
  }
}

/** Whether its sender may send with it now: it was named, or sent, or its time is not over. */
function isTheirs({ isNamed, isGivenBack, sent }: Hold, { endsAt }: TxRow, nowSeconds: number): boolean {
  return !isGivenBack && (isNamed || sent !== null || (endsAt ?? 0) > nowSeconds * 1000);
}

function isLiveAt(tx: TxRow, { signer, nonce }: TxRow): boolean {
  return tx.signer === signer && tx.nonce === nonce && LIVE.has(tx.state) && tx.replacedBy === null;
}

function rowOf({ txId }: Hold, { txs }: Snapshot): TxRow | undefined {
  return txs.find(({ id }) => id === txId);
}

function isShown({ hash }: ModelTx, { chain, endpoints }: Network): boolean {
  return chain.minedTxs().some((tx) => tx.hash === hash) || endpoints.some(({ pool }) => pool.has(hash));
}

function fail(invariant: string, words: string): never {
  throw new Violation(invariant, words);
}
