import { Module } from '@nestjs/common';
import { CreateKey } from './application/create-key.js';
import { Identify } from './application/identify.js';
import { KeyRing } from './application/key-ring.js';
import { RotateKey } from './application/rotate-key.js';
import { ApiKeys } from './domain/api-keys.js';
import { KeysController } from './infrastructure/http/keys.controller.js';
import { OpenRequests } from './infrastructure/http/open-requests.js';
import { KeyRefresh } from './infrastructure/key-refresh.js';
import { LimitRefresh } from './infrastructure/limit-refresh.js';
import { PgApiKeys } from './infrastructure/pg-api-keys.js';

@Module({
  controllers: [KeysController],
  providers: [
    { provide: ApiKeys, useClass: PgApiKeys },
    KeyRing,
    KeyRefresh,
    LimitRefresh,
    Identify,
    CreateKey,
    RotateKey,
    OpenRequests,
  ],
  exports: [Identify, OpenRequests],
})
export class AccessModule {}
