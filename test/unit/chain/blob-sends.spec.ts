import { beforeEach, describe, expect, it } from '@jest/globals';
import { decodeRlp } from 'ethers';
import { parseHex } from '../../../src/kernel/hex.js';
import type { NodeErrorClass } from '../../../src/kernel/node-error-class.js';
import type { BroadcastOutcome, SignedBytes } from '../../../src/modules/chain/index.js';
import { BlobSends } from '../../../src/modules/chain/infrastructure/blob-sends.js';
import { aHash } from '../../support/builders.js';

const bytes = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);
const text = (length: number, value: number): string => `0x${Buffer.from(bytes(length, value)).toString('hex')}`;
const PLAIN: SignedBytes = { hash: aHash(1), raw: parseHex('0x02c0') };
const BLOB: SignedBytes = {
  hash: aHash(2),
  raw: parseHex('0x03c20102'),
  sidecar: {
    blobs: [bytes(131_072, 1), bytes(131_072, 2)],
    commitments: [bytes(48, 3), bytes(48, 4)],
    blobProofs: [bytes(48, 5), bytes(48, 6)],
    cellProofs: [bytes(6144, 7), bytes(6144, 8)],
  },
};
const BODY = ['0x01', '0x02'];
const BLOBS = [text(131_072, 1), text(131_072, 2)];
const COMMITMENTS = [text(48, 3), text(48, 4)];
const IN_BLOB_FORM = [BODY, BLOBS, COMMITMENTS, [text(48, 5), text(48, 6)]];
const CELL_PROOFS = [...Array<string>(128).fill(text(48, 7)), ...Array<string>(128).fill(text(48, 8))];
const IN_CELL_FORM = [BODY, '0x01', BLOBS, COMMITMENTS, CELL_PROOFS];

/** What each call sent: `blob` or `cell` for the forms of the blob transaction, else its bytes. */
let sent: string[][];
/** The form that the node takes; null for neither. */
let accepted: 'blob' | 'cell' | null;
let refusal: NodeErrorClass;

beforeEach(() => {
  [sent, accepted, refusal] = [[], 'cell', 'blob_error'];
});

function formOf({ raw }: SignedBytes): string {
  if (!raw.startsWith('0x03')) return raw;
  const list = decodeRlp(`0x${raw.slice(4)}`);
  const form = (list as unknown[]).length === 5 ? 'cell' : 'blob';
  expect(list).toEqual(form === 'cell' ? IN_CELL_FORM : IN_BLOB_FORM);
  return form;
}

function answered(form: string): BroadcastOutcome {
  const message = `no ${form}`;
  return refusal === 'unknown'
    ? { kind: 'unknown', errorClass: refusal, message }
    : { kind: 'rejected', errorClass: refusal, message };
}

async function send(transactions: readonly SignedBytes[]): Promise<BroadcastOutcome[]> {
  const forms = transactions.map(formOf);
  sent.push(forms);
  return forms.map((form) => (form.startsWith('0x') || form === accepted ? { kind: 'accepted' } : answered(form)));
}

describe('blobs are sent', () => {
  it('with cell proofs at first, and their neighbours as they are', async () => {
    expect(await new BlobSends('auto').execute([PLAIN, BLOB], send)).toEqual([
      { kind: 'accepted' },
      { kind: 'accepted' },
    ]);
    expect(sent).toEqual([['0x02c0', 'cell']]);
  });

  it('in the other form when every node refuses this one, and then in that form', async () => {
    accepted = 'blob';
    const sends = new BlobSends('auto');
    for (let n = 0; n < 2; n += 1)
      expect(await sends.execute([PLAIN, BLOB], send)).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }]);
    expect(sent).toEqual([['0x02c0', 'cell'], ['blob'], ['0x02c0', 'blob']]);
    accepted = 'cell';
    await sends.execute([BLOB], send);
    expect(sent.slice(3)).toEqual([['blob'], ['cell']]);
  });

  it('in the other form when a node answers to this one with words that nobody knows', async () => {
    [accepted, refusal] = ['blob', 'unknown'];
    const sends = new BlobSends('auto');
    for (let n = 0; n < 2; n += 1) expect(await sends.execute([BLOB], send)).toEqual([{ kind: 'accepted' }]);
    expect(sent).toEqual([['cell'], ['blob'], ['blob']]);
  });

  it('and maybe taken when neither form is answered in known words', async () => {
    [accepted, refusal] = [null, 'unknown'];
    expect(await new BlobSends('auto').execute([BLOB], send)).toMatchObject([{ kind: 'unknown' }]);
  });

  it('and refused for the reason of the usual form when neither is taken', async () => {
    accepted = null;
    const sends = new BlobSends('auto');
    expect(await sends.execute([BLOB], send)).toMatchObject([{ kind: 'rejected', message: 'no cell' }]);
    await sends.execute([BLOB], send);
    expect(sent).toEqual([['cell'], ['blob'], ['cell'], ['blob']]);
  });

  it('and known to have been refused when no node can be reached with the other form', async () => {
    const refusedOnce = async (transactions: readonly SignedBytes[]): Promise<BroadcastOutcome[]> =>
      sent.length === 0 ? send(transactions) : [{ kind: 'not_sent', message: 'ECONNREFUSED' }];
    accepted = null;
    expect(await new BlobSends('auto').execute([BLOB], refusedOnce)).toMatchObject([{ kind: 'rejected' }]);
  });

  it('once when the refusal is about something else', async () => {
    [accepted, refusal] = ['blob', 'nonce_too_high'];
    await new BlobSends('auto').execute([BLOB], send);
    expect(sent).toEqual([['cell']]);
  });

  it.each(['blob', 'cell'] as const)('with the proofs of a %s alone when the config says so', async (rule) => {
    accepted = null;
    await new BlobSends(rule).execute([BLOB], send);
    expect(sent).toEqual([[rule]]);
  });
});
