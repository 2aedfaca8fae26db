import { Module } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { ProblemFilter } from './problem-filter.js';
import { RequestValidationPipe } from './validation-pipe.js';

/** Applies problem+json and validation to every route of the app. */
@Module({
  providers: [
    { provide: APP_FILTER, useClass: ProblemFilter },
    { provide: APP_PIPE, useClass: RequestValidationPipe },
  ],
})
export class HttpModule {}
