import { ValidateBy } from 'class-validator';

/** Up to 200 characters of text, without control characters (PostgreSQL stores no NUL) and half surrogate pairs. */
const REQUEST_ID = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

export function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 200 && REQUEST_ID.test(value);
}

/** For queries: a key that cannot exist is a mistake of the caller. */
export function IsRequestId(): PropertyDecorator {
  const message = 'requestId must be up to 200 printable characters';
  return ValidateBy(
    { name: 'isRequestId', validator: { validate: isRequestId, defaultMessage: () => message } },
    { context: { code: 'invalid_request_id' } },
  );
}
