import { recoverAddress } from 'ethers';
import { ANYONE } from '../../src/kernel/caller.js';
import { type Address, type Hex, parseHex } from '../../src/kernel/hex.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import type { RequestedPermit } from '../../src/modules/ledger/domain/permit.js';
import type { TxRequest } from '../../src/modules/ledger/domain/tx-request.js';
import { ChangePolicy } from '../../src/modules/ops/application/change-policy.js';
import { toPolicy } from '../../src/modules/policies/index.js';
import { encodeTypedData } from '../../src/platform/crypto/typed-data.js';
import { Database } from '../../src/platform/database/database.js';
import { anAddress, aRequest, DEV_CHAIN } from './builders.js';
import type { NodeLab } from './node-lab.js';
import { aPermit } from './permit-builders.js';
import type { TestNode } from './test-node.js';

export const TOKEN = anAddress(0x70);
const SIGNATURE_AT = 4 + 32;
const TEMPLATE = `0xa1b2c3d4${'00'.repeat(32 + 65)}`;
/** Tells txs apart. */
const ending = (tag: number): string => tag.toString(16).padStart(8, '0');
const PLACES = [
  { part: 'deadline', at: 4, bytes: 32 },
  { part: 'signature', at: SIGNATURE_AT, bytes: 65 },
] as const;

/** What the data of a call says of its permit. */
export interface PermitInData {
  readonly deadline: bigint;
  readonly signature: Hex;
}

/** Txs with permits of a contract of the model chain, whose nonces a test sets. */
export class PermitLab {
  private statements = 0;

  constructor(private readonly lab: NodeLab) {}

  /** The owner may sign permits of the token. */
  async allow(owner: SignerId, node = this.lab.node): Promise<void> {
    await this.setPolicy(owner, [`${TOKEN}/Permit`], 0, node);
  }

  async setPolicy(
    signer: SignerId,
    typedData: readonly string[],
    version: number,
    node = this.lab.node,
  ): Promise<void> {
    const policy = toPolicy({ typedData: [...typedData] });
    await node.get(ChangePolicy).execute({ signer, policy, version, by: ANYONE });
  }

  permitOf(owner: Address, overrides: Partial<RequestedPermit> = {}): RequestedPermit {
    const contract = overrides.contract ?? TOKEN;
    const domain = { name: 'Token', version: '1', chainId: DEV_CHAIN, verifyingContract: contract };
    const fields = ['nonce', 'deadline'].map((name) => ({ name, type: 'uint256' }));
    const text = { domain, types: { Permit: fields }, primaryType: 'Permit', message: {} };
    return aPermit({ contract, owner, places: PLACES, text, ...overrides });
  }

  async create(
    tag: number,
    sender: SignerId,
    owner: SignerId,
    permit: Partial<RequestedPermit> = {},
    overrides: Partial<TxRequest> = {},
  ): Promise<string> {
    const permits = [this.permitOf(owner.address, permit)];
    const payload = { ...aRequest().payload, data: parseHex(TEMPLATE + ending(tag)), permits };
    return this.lab.create(tag, { signer: sender, payload, ...overrides });
  }

  /** The contract waits for this nonce of the owner. */
  next(owner: SignerId, nonce: bigint | null, contract = TOKEN): void {
    const key = `${contract} ${owner.address}`;
    if (nonce === null) this.lab.chain.permitNonceOf.delete(key);
    else this.lab.chain.permitNonceOf.set(key, nonce);
  }

  inData(data: Hex): PermitInData {
    const at = (from: number, bytes: number): Hex => parseHex(`0x${data.slice(2 + 2 * from, 2 + 2 * (from + bytes))}`);
    return { deadline: BigInt(at(4, 32)), signature: at(SIGNATURE_AT, 65) };
  }

  /** What was sent for the tx with this tag, each once. */
  sentFor(tag: number): Hex[] {
    const own = this.lab.chain.sent.filter(({ data }) => data.startsWith('0xa1b2c3d4') && data.endsWith(ending(tag)));
    return [...new Set(own.map(({ data }) => parseHex(data)))];
  }

  /** Who has signed the permit in the data with this nonce. */
  signedBy(data: Hex, permitNonce: bigint, owner: SignerId): string {
    const { deadline, signature } = this.inData(data);
    const { text } = this.permitOf(owner.address);
    const message = { nonce: permitNonce.toString(), deadline: deadline.toString() };
    const types = { Permit: [...(text.types['Permit'] ?? [])] };
    const { digest } = encodeTypedData({ ...text, types, message });
    return recoverAddress(digest, signature).toLowerCase();
  }

  /** All permits, in the order of their txs: their nonces and what became of them. */
  async rows(node: TestNode = this.lab.node): Promise<string[]> {
    const rows = await this.run(
      `SELECT coalesce(nonce::text, '-') || ' ' || status AS row FROM permit_nonce ORDER BY tx_id, position`,
      node,
    );
    return rows.map(({ row }) => String(row));
  }

  /** As if this much time had passed since permits were made, and since they were put off. */
  async later(seconds: number): Promise<void> {
    const span = `interval '${seconds} seconds'`;
    await this.run(
      `UPDATE permit_nonce SET made_at = made_at - ${span}, deadline = deadline - ${seconds}, due_at = due_at - ${span}`,
    );
    await this.run(
      `UPDATE managed_tx SET options = jsonb_set(options, '{permits,0,made,deadline}', to_jsonb(((options #>> '{permits,0,made,deadline}')::numeric - ${seconds})::text))
        WHERE options #> '{permits,0,made}' IS NOT NULL`,
    );
  }

  async run(text: string, node: TestNode = this.lab.node): Promise<Record<string, unknown>[]> {
    const name = `test_permits_${(this.statements += 1)}`;
    return (await node.get(Database).query<Record<string, unknown>>({ name, text }, [])).rows;
  }
}
