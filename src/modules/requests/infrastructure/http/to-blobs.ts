import { InvalidInput } from '../../../../kernel/errors.js';
import { BLOB_BYTES } from '../../../chain/index.js';

const WORD_BYTES = 32;
/** The order of BLS12-381: each 32 bytes of a blob are a number below it. */
const MODULUS = Buffer.from('73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001', 'hex');

/**
 * The blobs of a request, with zeros up to their full length.
 * @throws InvalidInput `invalid_blob` when 32 bytes are no field element: no commitment exists then
 */
export function toBlobs(texts: readonly string[]): Buffer[] {
  return texts.map((text, index) => {
    const blob = Buffer.alloc(BLOB_BYTES);
    blob.write(text.slice(2), 'hex');
    assertCanonical(blob, index);
    return blob;
  });
}

function assertCanonical(blob: Buffer, index: number): void {
  for (let at = 0; at < BLOB_BYTES; at += WORD_BYTES) {
    if (blob.compare(MODULUS, 0, WORD_BYTES, at, at + WORD_BYTES) < 0) continue;
    throw new InvalidInput(
      'invalid_blob',
      `payload.blobs[${index}] has no field element at byte ${at}: 32 bytes there are a number above the order of BLS12-381`,
      'put at most 31 bytes of data into each 32 bytes, after a zero',
      { blob: index, byte: at },
    );
  }
}
