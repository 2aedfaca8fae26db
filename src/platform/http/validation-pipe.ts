import { ValidationPipe } from '@nestjs/common';
import { InvalidRequest } from './invalid-request.js';
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
}
