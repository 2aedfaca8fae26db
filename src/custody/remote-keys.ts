import type { Address, Hash } from '../kernel/hex.js';
import type { EcdsaSignature, Signable } from '../kernel/signing.js';
import { AtMost } from '../platform/scheduling/at-most.js';
import type { CustodyKey } from './custody-entry.js';

/** Signatures that a remote custody is asked for at once. */
const AT_ONCE = 16;
/** Signatures that are kept at most of a key: those of a few batches. */
const MOST_KEPT = 1_000;

interface RemoteAccount extends Pick<CustodyKey, 'reference' | 'signs'> {
  readonly address: Address;
  readonly sign: (item: Signable) => Promise<EcdsaSignature>;
}

/** The keys of a custody that another process has, which signs one by one. */
export function remoteKeys(accounts: readonly RemoteAccount[]): CustodyKey[] {
  const turns = new AtMost(AT_ONCE);
  return accounts.map(({ sign, ...account }) => {
    const signing = new RemoteSigning(turns, sign);
    return { ...account, isRemote: true, sign: (items, late) => signing.sign(items, late) };
  });
}

/** What was signed in a batch that failed or was given up is kept for the next try: a remote signature takes time, and often costs money. */
class RemoteSigning {
  private readonly kept = new Map<Hash, EcdsaSignature>();

  constructor(
    private readonly turns: AtMost,
    private readonly signOne: (item: Signable) => Promise<EcdsaSignature>,
  ) {}

  /** @throws the first error; nothing more is asked for after it, nor after nobody waits for it */
  async sign(items: readonly Signable[], late?: AbortSignal): Promise<EcdsaSignature[]> {
    // Several batches may be signed at once, so each has its own.
    const signed = new Map<Hash, EcdsaSignature>();
    const errors: unknown[] = [];
    const signOnce = async (item: Signable): Promise<void> => {
      if (errors.length > 0 || late?.aborted === true) return;
      try {
        signed.set(item.digest, this.kept.get(item.digest) ?? (await this.signOne(item)));
      } catch (error) {
        errors.push(error);
      }
    };
    await Promise.all(items.map((item) => this.turns.run(() => signOnce(item))));
    if (late?.aborted === true) errors.push(new Error('the signatures took too long'));
    for (const [digest, signature] of signed)
      if (errors.length > 0) this.kept.set(digest, signature);
      else this.kept.delete(digest);
    this.keepNewest();
    if (errors.length > 0) throw errors[0];
    return items.flatMap(({ digest }) => signed.get(digest) ?? []);
  }

  private keepNewest(): void {
    for (const digest of this.kept.keys()) {
      if (this.kept.size <= MOST_KEPT) return;
      this.kept.delete(digest);
    }
  }
}
