import { InvalidInput } from '../../../../kernel/errors.js';
import { DtoRules } from '../../../../platform/http/dto-rules.js';
import type { RequestValidationPipe } from '../../../../platform/http/validation-pipe.js';
import { MAX_BATCH_ITEMS, TxBatchDto } from './tx-batch.dto.js';

/**
 * Returns the items of a batch, not yet parsed.
 * @throws InvalidInput when the batch itself is wrong, with any items
 */
export async function itemsOf(body: unknown, validation: RequestValidationPipe): Promise<readonly unknown[]> {
  // Does not use the pipe, which also checks the items: one item that is nested too deeply would fail all others.
  const batch = DtoRules.of(TxBatchDto).read(body);
  const { items } = batch instanceof TxBatchDto ? batch : await validation.read(TxBatchDto, body);
  if (items.length === 0) throw new InvalidInput('empty_batch', 'the batch has no items', 'send at least one item');
  if (items.length > MAX_BATCH_ITEMS) {
    throw new InvalidInput(
      'batch_too_large',
      `the batch has ${items.length} items; the limit is ${MAX_BATCH_ITEMS}; nothing was stored`,
      `send at most ${MAX_BATCH_ITEMS} items per batch`,
      { items: items.length, maxItems: MAX_BATCH_ITEMS },
    );
  }
  return items;
}
