import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import { InvalidInput, InvariantViolation } from '../../kernel/errors.js';
import { type DtoClass, DtoRules } from './dto-rules.js';
import { InvalidRequest } from './invalid-request.js';
import { hasTooManyFields, isNestedTooDeeply, MAX_FIELDS, MAX_NESTING } from './nesting.js';
import { violationsOf } from './violations.js';

/** Refuses unknown fields, reports all violations at once, and returns instances of the DTO classes. */
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({
      whitelist: true,
      forbidNonWhitelisted: true,
      transform: true,
      exceptionFactory: (errors) => new InvalidRequest(violationsOf(errors)),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (isNestedTooDeeply(value)) {
      throw new InvalidInput(
        'nested_too_deeply',
        `the request is nested more than ${MAX_NESTING} deep`,
        'send a request with less nesting',
      );
    }
    const { type, metatype } = metadata;
    // Fast path for valid bodies, which are nearly all.
    const read = type === 'body' && metatype !== undefined ? DtoRules.of(metatype).read(value) : null;
    if (read !== null) return read;
    if (hasTooManyFields(value)) {
      throw new InvalidInput(
        'too_many_fields',
        `an object of the request has more than ${MAX_FIELDS} fields: too many to validate`,
        'send the request without that object to get its other mistakes',
      );
    }
    return super.transform(value, metadata);
  }

  /** Validates a part of a body like a whole body. */
  async read<T extends object>(type: DtoClass<T>, value: unknown): Promise<T> {
    const dto = await this.transform(value, { type: 'body', metatype: type });
    if (!(dto instanceof type)) throw new InvariantViolation(`validation made no ${type.name}`);
    return dto;
  }
}
