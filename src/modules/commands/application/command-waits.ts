import { Conflict } from '../../../kernel/errors.js';

/** Another word of the same kind about the hold waits for the owner of its signer. */
export class CommandWaits extends Conflict {
  override readonly retryable = true;
  override readonly retryAfterSeconds = 1;

  constructor(txId: string, state: string) {
    super(
      'command_waits',
      'another command of this kind about the hold is not carried out yet',
      'send it again when that one is decided, within about a second',
      { txId, state },
    );
  }
}
