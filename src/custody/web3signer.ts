import { Each, Text, TextList } from '../config/config-fields.js';
import { parseHex } from '../kernel/hex.js';
import type { EcdsaSignature, Signable } from '../kernel/signing.js';
import { CustodyEntry, type CustodyKey, HttpUrl } from './custody-entry.js';
import { postJson } from './post-json.js';
import { addressOfPoint } from './public-key.js';
import { remoteKeys } from './remote-keys.js';

/** Consensys' Web3Signer in its mode eth1 (`/api/v1/eth1/sign`): it hashes what it is given, and signs the hash. */
export class Web3SignerCustody extends CustodyEntry {
  @HttpUrl()
  @Text({ required: true })
  url = '';

  /** As `GET /api/v1/eth1/publicKeys` lists them: 64 bytes. */
  @Each('isPublicKey', 'must be 0x and 128 hex digits', (text) => /^0x[0-9a-fA-F]{128}$/.test(text))
  @TextList({ required: true })
  publicKeys: string[] = [];

  async keys(): Promise<readonly CustodyKey[]> {
    return remoteKeys(
      this.publicKeys.map((publicKey) => {
        const sign = (item: Signable) => this.sign(publicKey, item);
        const address = addressOfPoint(Buffer.from(publicKey.slice(2), 'hex'));
        return { address, reference: { type: this.type }, sign };
      }),
    );
  }

  private async sign(publicKey: string, { bytes }: Signable): Promise<EcdsaSignature> {
    const url = new URL(this.url);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/v1/eth1/sign/${publicKey}`;
    const data = `0x${Buffer.from(bytes).toString('hex')}`;
    const answer = await postJson(url.href, { data });
    // Some versions quote it, as JSON.
    const [, r = '', s = '', v = ''] = /^"?0x([0-9a-f]{64})([0-9a-f]{64})([0-9a-f]{2})"?$/i.exec(answer.trim()) ?? [];
    if (v === '') throw new Error('the custody answers no signature');
    // 27 and 28, or the parity itself.
    const parity = Number.parseInt(v, 16) % 27;
    return { r: parseHex(`0x${r}`), s: parseHex(`0x${s}`), yParity: parity === 0 ? 0 : 1 };
  }
}
