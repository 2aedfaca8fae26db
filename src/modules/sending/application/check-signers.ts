import type { Clock } from '../../../kernel/clock.js';
import { messageOf } from '../../../kernel/errors.js';
import { parseHex } from '../../../kernel/hex.js';
import { type ChainId, type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { Chains } from '../../chain/index.js';
import type { Custody, NonceLedger, SignerDirectory } from '../../signers/index.js';
import type { AttemptDraft, AttemptSigner } from './attempt-signer.js';

/** No account gets there, so nobody can have the test transaction executed; and custodies that read a nonce as a JavaScript number can read it. */
const FAR_NONCE = 2n ** 53n - 1n;
const TEST = {
  nonce: FAR_NONCE,
  kind: 'fill',
  txId: '',
  value: 0n,
  data: parseHex('0x'),
  accessList: [],
  gasLimit: 21_000n,
  fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 0n },
  type: 2,
  pricedAtBlock: null,
} as const satisfies Partial<AttemptDraft>;

const EXTERNAL = 'external: nothing to check but its balance and nonce';

/** What one signer looks like from here. */
export interface SignerCheck {
  readonly signer: SignerId;
  readonly custody: ReturnType<Custody['signers']>[number]['reference'];
  /** Milliseconds that a signature took; null where this process has no key, or none came. */
  readonly signedInMs: number | null;
  /** Wei; null when no endpoint told it. */
  readonly balance: bigint | null;
  /** The chain's next nonce as of `latest` and `pending`, and the next one that Lockstep gives; null where it is not known. */
  readonly nonces: { readonly latest: Nonce | null; readonly pending: Nonce | null; readonly next: Nonce | null };
  /** Why it was not asked for a signature; null when it was, and where this process has no key. */
  readonly note: string | null;
  /** What is wrong, in words; empty when nothing is. */
  readonly problems: readonly string[];
}

type OnChain = Pick<SignerCheck, 'balance'> & { readonly latest: Nonce; readonly pending: Nonce };

/** Looks at signers as the service would use them, and changes nothing. */
export class CheckSigners {
  constructor(
    private readonly chains: Pick<Chains, 'get'>,
    private readonly signerOf: (custody: Custody) => AttemptSigner,
    private readonly directory: Pick<SignerDirectory, 'refuseMoved'>,
    private readonly ledger: Pick<NonceLedger, 'cursors'>,
    private readonly clock: Clock,
  ) {}

  /** @param custody of accounts of this chain; one after the other is asked for a signature */
  async execute(chainId: ChainId, custody: Custody): Promise<SignerCheck[]> {
    const keys = new Map(custody.signers().map((custodied) => [signerKey(custodied.signer), custodied]));
    const signers = custody.rules().map(({ signer }) => signer);
    const [onChain, cursors] = await Promise.all([
      told(this.onChain(chainId, signers)),
      told(this.ledger.cursors(signers), 'database: '),
    ]);
    const checks: SignerCheck[] = [];
    for (const [index, signer] of signers.entries()) {
      const own = keys.get(signerKey(signer));
      const isExternal = custody.isExternal(signer);
      const signed = own && !isExternal && (await told(this.sign(custody, signer)));
      const moved = own && (await told(this.directory.refuseMoved([own])));
      const { balance = null, latest = null, pending = null } = onChain.answer?.[index] ?? {};
      checks.push({
        signer,
        custody: own?.reference ?? { type: 'elsewhere' },
        signedInMs: signed ? (signed.answer ?? null) : null,
        balance,
        nonces: { latest, pending, next: cursors.answer?.get(signerKey(signer)) ?? null },
        note: isExternal ? EXTERNAL : null,
        problems: [signed, moved, onChain, cursors].flatMap((part) => (part ? (part.problem ?? []) : [])),
      });
    }
    return checks;
  }

  private async onChain(chainId: ChainId, signers: readonly SignerId[]): Promise<OnChain[]> {
    const chain = this.chains.get(chainId);
    const accounts = signers.map(({ address }) => address);
    const [balances, latest, pending] = await Promise.all([
      chain.balances(accounts),
      chain.transactionCounts(accounts, 'latest'),
      chain.transactionCounts(accounts, 'pending'),
    ]);
    return accounts.map((_, index) => ({
      balance: balances[index] ?? 0n,
      latest: latest[index] ?? 0n,
      pending: pending[index] ?? 0n,
    }));
  }

  /** The custody checks that the signature recovers to the signer. @returns milliseconds */
  private async sign(custody: Custody, signer: SignerId): Promise<number> {
    const begunMs = this.clock.monotonicMs();
    await this.signerOf(custody).sign([{ ...TEST, signer, to: signer.address }]);
    return this.clock.monotonicMs() - begunMs;
  }
}

interface Told<T> {
  readonly answer?: T;
  readonly problem?: string;
}

async function told<T>(question: Promise<T>, before = ''): Promise<Told<T>> {
  try {
    return { answer: await question };
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : '';
    return { problem: `${before}${messageOf(error)}${cause}` };
  }
}
