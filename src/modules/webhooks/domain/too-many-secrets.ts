import { Conflict } from '../../../kernel/errors.js';

/** Each lengthens the header of every post. */
export const MOST_PREVIOUS_SECRETS = 5;

/** A further rotation would end a secret before its time. Nothing was changed. */
export class TooManySecrets extends Conflict {
  override readonly retryable = true;
  override readonly retryAfterSeconds: number;

  /** @param endsInSeconds the first of the previous secrets */
  constructor(endsInSeconds: number) {
    super(
      'too_many_secrets',
      `${MOST_PREVIOUS_SECRETS} previous secrets sign still; the first ends in ${Math.ceil(endsInSeconds)} s`,
      'rotate again then, or with keepOldHours 0, which ends them all at once',
      { mostPreviousSecrets: MOST_PREVIOUS_SECRETS },
    );
    this.retryAfterSeconds = Math.max(1, Math.ceil(endsInSeconds));
  }
}
