import { Module } from '@nestjs/common';
import { AccountBook } from './application/account-book.js';
import { CreateKey } from './application/create-key.js';
import { Identify } from './application/identify.js';
import { KeyRing } from './application/key-ring.js';
import { RotateKey } from './application/rotate-key.js';
import { Tokens } from './application/tokens.js';
import { ApiKeys } from './domain/api-keys.js';
import { LiveAccounts } from './domain/live-accounts.js';
import { KeysController } from './infrastructure/http/keys.controller.js';
import { OpenRequests } from './infrastructure/http/open-requests.js';
import { IssuerKeys } from './infrastructure/jwt/issuer-keys.js';
import { JwtTokens } from './infrastructure/jwt/jwt-tokens.js';
import { KeyRefresh } from './infrastructure/key-refresh.js';
import { LimitRefresh } from './infrastructure/limit-refresh.js';
import { PgApiKeys } from './infrastructure/pg-api-keys.js';
import { PgLiveAccounts } from './infrastructure/pg-live-accounts.js';

@Module({
  controllers: [KeysController],
  providers: [
    { provide: ApiKeys, useClass: PgApiKeys },
    { provide: LiveAccounts, useClass: PgLiveAccounts },
    { provide: Tokens, useClass: JwtTokens },
    AccountBook,
    IssuerKeys,
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
