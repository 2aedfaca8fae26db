import { Injectable } from '@nestjs/common';
import { Signature, Transaction } from 'ethers';
import { InvariantViolation } from '../../../kernel/errors.js';
import { parseHash, parseHex } from '../../../kernel/hex.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { Custody, type EcdsaSignature } from '../../signers/index.js';
import { type AttemptDraft, AttemptSigner, NotEncodable } from '../application/attempt-signer.js';
import type { Attempt } from '../domain/attempt.js';

/** EIP-1559 envelopes (type 2) by ethers, signatures by the custody of the signer. */
@Injectable()
export class EthersAttemptSigner extends AttemptSigner {
  constructor(private readonly custody: Custody) {
    super();
  }

  async sign(drafts: readonly AttemptDraft[]): Promise<Attempt[]> {
    const envelopes = drafts.map((draft) => ({ draft, envelope: toEnvelope(draft) }));
    const groups = new Map<string, typeof envelopes>();
    for (const item of envelopes) {
      const key = signerKey(item.draft.signer);
      const group = groups.get(key);
      if (group) group.push(item);
      else groups.set(key, [item]);
    }
    await Promise.all([...groups.values()].map((group) => this.signGroup(group)));
    return envelopes.map(({ draft, envelope }) => toAttempt(draft, envelope));
  }

  private async signGroup(
    group: readonly { readonly draft: AttemptDraft; readonly envelope: Transaction }[],
  ): Promise<void> {
    const [first] = group;
    if (!first) return;
    const digests = group.map(({ envelope }) => parseHash(envelope.unsignedHash));
    const signatures = await this.custody.sign(first.draft.signer, digests);
    group.forEach(({ envelope }, index) => {
      const signature = signatures[index];
      if (!signature) throw new InvariantViolation('the custody left a digest unsigned');
      envelope.signature = toSignature(signature);
    });
  }
}

function toEnvelope(draft: AttemptDraft): Transaction {
  try {
    return encode(draft);
  } catch (error) {
    throw new NotEncodable(error);
  }
}

function encode(draft: AttemptDraft): Transaction {
  return Transaction.from({
    type: 2,
    chainId: draft.signer.chainId,
    // ethers takes nonces as numbers; EIP-2681 nonces beyond 2^53 are out of its reach, and it says so.
    nonce: Number(draft.nonce),
    to: draft.to,
    value: draft.value,
    data: draft.data,
    gasLimit: draft.gasLimit,
    maxFeePerGas: draft.fees.maxFeePerGas,
    maxPriorityFeePerGas: draft.fees.maxPriorityFeePerGas,
    accessList: draft.accessList.map(({ address, storageKeys }) => ({ address, storageKeys: [...storageKeys] })),
  });
}

function toSignature({ r, s, yParity }: EcdsaSignature): Signature {
  return Signature.from({ r, s, yParity });
}

function toAttempt(draft: AttemptDraft, envelope: Transaction): Attempt {
  const { signer, nonce, kind, txId, gasLimit, fees } = draft;
  if (envelope.hash === null) throw new InvariantViolation('an envelope was left unsigned');
  return {
    signer,
    nonce,
    kind,
    txId,
    gasLimit,
    fees,
    txHash: parseHash(envelope.hash),
    raw: parseHex(envelope.serialized),
    status: 'SIGNED',
    errorClass: null,
  };
}
