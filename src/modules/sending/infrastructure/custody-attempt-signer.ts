import { Injectable } from '@nestjs/common';
import { InvariantViolation } from '../../../kernel/errors.js';
import { groupBy } from '../../../kernel/group-by.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { mapInTurns } from '../../../platform/scheduling/map-in-turns.js';
import { CannotSign, Custody } from '../../signers/index.js';
import { type AttemptDraft, AttemptSigner, NotEncodable } from '../application/attempt-signer.js';
import { signAuthorizations } from '../application/authorization-signer.js';
import type { Attempt, SignedAuthorization } from '../../ledger/index.js';
import { Envelope } from './envelope.js';

interface Unsigned {
  readonly draft: AttemptDraft;
  readonly envelope: Envelope;
}

/** Builds transactions, and has the custody sign them: one call per signer. */
@Injectable()
export class CustodyAttemptSigner extends AttemptSigner {
  constructor(private readonly custody: Custody) {
    super();
  }

  async sign(drafts: readonly AttemptDraft[]): Promise<Attempt[]> {
    try {
      return await this.signed(drafts);
    } catch (error) {
      throw error instanceof CannotSign ? new NotEncodable(error) : error;
    }
  }

  private async signed(drafts: readonly AttemptDraft[]): Promise<Attempt[]> {
    const authorized = await this.authorized(drafts);
    const unsigned = await mapInTurns(drafts, (draft) => ({
      draft,
      envelope: toEnvelope(draft, authorized.get(draft) ?? []),
    }));
    const signed = new Map<AttemptDraft, Attempt>();
    const bySigner = groupBy(unsigned, ({ draft }) => signerKey(draft.signer));
    await Promise.all([...bySigner.values()].map((group) => this.signGroup(group, signed)));
    return drafts.flatMap((draft) => signed.get(draft) ?? []);
  }

  private async authorized(
    drafts: readonly AttemptDraft[],
  ): Promise<ReadonlyMap<AttemptDraft, readonly SignedAuthorization[]>> {
    const authorizing = drafts.filter(({ authorizationList }) => authorizationList !== undefined);
    const signed = authorizing.map(async (draft) => [draft, await signAuthorizations(this.custody, draft)] as const);
    return new Map(await Promise.all(signed));
  }

  private async signGroup(group: readonly Unsigned[], signed: Map<AttemptDraft, Attempt>): Promise<void> {
    const [first] = group;
    if (!first) return;
    const signatures = await this.custody.sign(
      first.draft.signer,
      group.map(({ envelope }) => envelope.unsigned),
    );
    await mapInTurns(group, ({ draft, envelope }, index) => {
      const signature = signatures[index];
      if (!signature) throw new InvariantViolation('the custody returned fewer signatures than digests');
      const { signer, nonce, kind, txId, gasLimit, fees, type, pricedAtBlock } = draft;
      const sealed = envelope.signed(signature);
      signed.set(draft, {
        signer,
        nonce,
        kind,
        txId,
        gasLimit,
        fees,
        type,
        pricedAtBlock,
        ...sealed,
        status: 'SIGNED',
        errorClass: null,
      });
    });
  }
}

function toEnvelope(draft: AttemptDraft, authorizationList: readonly SignedAuthorization[]): Envelope {
  try {
    return new Envelope({ ...draft, authorizationList });
  } catch (error) {
    throw new NotEncodable(error);
  }
}
