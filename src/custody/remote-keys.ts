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
    return { ...account, isRemote: true, sign: (items) => signing.sign(items) };
  });
}

/** What was signed in a batch that failed is kept for the next try: a remote signature takes time, and often costs money. */
class RemoteSigning {
  private readonly kept = new Map<Hash, EcdsaSignature>();

  constructor(
    private readonly turns: AtMost,
    private readonly signOne: (item: Signable) => Promise<EcdsaSignature>,
  ) {}

  /** @throws the first error; nothing more is asked for after it */
  async sign(items: readonly Signable[]): Promise<EcdsaSignature[]> {
    const errors: unknown[] = [];
    const signOnce = async (item: Signable): Promise<void> => {
      if (errors.length > 0 || this.kept.has(item.digest)) return;
      try {
        this.kept.set(item.digest, await this.signOne(item));
      } catch (error) {
        errors.push(error);
      }
    };
    await Promise.all(items.map((item) => this.turns.run(() => signOnce(item))));
    const signatures = items.flatMap(({ digest }) => this.kept.get(digest) ?? []);
    if (errors.length === 0 || this.kept.size > MOST_KEPT) this.kept.clear();
    if (errors.length > 0) throw errors[0];
    return signatures;
  }
}
