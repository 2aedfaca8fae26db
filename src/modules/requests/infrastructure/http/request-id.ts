import { ApiHeader } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { REQUEST_ID as SCHEMA } from '../../../../platform/http/describe-rules.js';

/** Up to 200 characters of text, without control characters (PostgreSQL stores no NUL) and half surrogate pairs. */
const REQUEST_ID = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

export function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && REQUEST_ID.test(value);
}

export function IsRequestId(): PropertyDecorator {
  const message = 'requestId must be up to 200 printable characters';
  return ValidateBy(
    { name: 'isRequestId', validator: { validate: isRequestId, defaultMessage: () => message } },
    { context: { code: 'invalid_request_id' } },
  );
}

export function ApiIdempotencyKey(): MethodDecorator {
  const description = 'Same as requestId in the body';
  return ApiHeader({ name: 'Idempotency-Key', required: false, description, schema: { type: 'string', ...SCHEMA } });
}
