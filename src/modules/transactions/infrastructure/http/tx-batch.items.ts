import { InvalidInput } from '../../../../kernel/errors.js';
import { DtoRules } from '../../../../platform/http/dto-rules.js';
import type { RequestValidationPipe } from '../../../../platform/http/validation-pipe.js';
import { MAX_BATCH_ITEMS, TxBatchDto } from './tx-batch.dto.js';

/**
 * The items of a batch, unread.
 * @throws InvalidInput when the batch itself is wrong, whatever is in its items
 */
export async function itemsOf(body: unknown, validation: RequestValidationPipe): Promise<readonly unknown[]> {
  // Past the pipe, which looks into the items: one that is nested too deeply would take all others with it.
  const batch = DtoRules.of(TxBatchDto).read(body);
  const { items } = batch instanceof TxBatchDto ? batch : await validation.read(TxBatchDto, body);
  if (items.length === 0) throw new InvalidInput('empty_batch', 'the batch has no items', 'send at least one item');
  if (items.length > MAX_BATCH_ITEMS) {
    throw new InvalidInput(
      'batch_too_large',
      `the batch has ${items.length} items, and at most ${MAX_BATCH_ITEMS} are taken at once; nothing was stored`,
      `send at most ${MAX_BATCH_ITEMS} items in one batch, and the rest in others`,
      { items: items.length, maxItems: MAX_BATCH_ITEMS },
    );
  }
  return items;
}
