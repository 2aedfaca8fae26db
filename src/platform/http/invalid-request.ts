import { InvalidInput } from '../../kernel/errors.js';
import type { Violation } from './problem-details.js';

/** A request of the wrong form. Its code is `unknown_field` when that is the only mistake, otherwise `invalid_request`. */
export class InvalidRequest extends InvalidInput {
  constructor(readonly errors: readonly Violation[]) {
    const onlyUnknown = errors.length > 0 && errors.every(({ code }) => code === 'unknown_field');
    super(
      onlyUnknown ? 'unknown_field' : 'invalid_request',
      errors.length === 1 && errors[0] !== undefined ? errors[0].message : `the request has ${errors.length} mistakes`,
      onlyUnknown
        ? 'remove the fields listed in errors, or look up their names at /docs'
        : 'correct the fields listed in errors; /docs shows every field with an example',
    );
  }
}
