import { Unprocessable } from '../../../../kernel/errors.js';
import type { JsonObject } from '../../../../kernel/json.js';

/** @throws Unprocessable `metadata_too_large` when it has more than `maxBytes` as JSON in UTF-8 */
export function assertMetadataFits(metadata: JsonObject | null, maxBytes: number): void {
  if (metadata === null) return;
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes <= maxBytes) return;
  throw new Unprocessable(
    'metadata_too_large',
    `metadata has ${bytes} bytes; the limit is ${maxBytes}`,
    'store it yourself and send a reference to it, or raise intake.maxMetadataBytes',
    { bytes, maxBytes },
  );
}
