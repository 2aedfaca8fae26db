import { InvalidInput } from '../../kernel/errors.js';
import { MAX_MISTAKES } from './mistakes.js';
import type { Violation } from './problem-details.js';

/** A request of the wrong form, or an item of a batch, which has no `errors` where others have enough. Its code is `unknown_field` when that is the only mistake, otherwise `invalid_request`. */
export class InvalidRequest extends InvalidInput {
  constructor(readonly errors: readonly Violation[]) {
    const onlyUnknown = errors.length > 0 && errors.every(({ code }) => code === 'unknown_field');
    super(
      onlyUnknown ? 'unknown_field' : 'invalid_request',
      inWords(errors),
      onlyUnknown
        ? 'remove the fields listed in errors, or look up their names at /docs'
        : 'correct the fields listed in errors; /docs shows every field with an example',
    );
  }
}

function inWords([first, ...more]: readonly Violation[]): string {
  if (first === undefined) return `the request has a mistake that is not told: ${MAX_MISTAKES} are told before it`;
  return more.length === 0 ? first.message : `the request has ${1 + more.length} mistakes`;
}
