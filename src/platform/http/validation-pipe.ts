import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import { InvalidInput } from '../../kernel/errors.js';
import { InvalidRequest } from './invalid-request.js';
import { isNestedTooDeeply, MAX_NESTING } from './nesting.js';
import { violationsOf } from './violations.js';

/** Refuses unknown fields, reports every violation at once, and hands on instances of the DTO classes. */
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
        'send it flatter',
      );
    }
    const transformed: unknown = await super.transform(value, metadata);
    return transformed;
  }
}
