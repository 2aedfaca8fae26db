import { Module } from '@nestjs/common';
import { AccountBook } from './application/account-book.js';
import { CreateKey } from './application/create-key.js';
import { Identify } from './application/identify.js';
import { KeyRing } from './application/key-ring.js';
import { RotateKey } from './application/rotate-key.js';
import { Tokens } from './application/tokens.js';
import { ApiKeys } from './domain/api-keys.js';
import { Accounts } from './domain/accounts.js';
import { AccountsController } from './infrastructure/http/accounts.controller.js';
import { AdmitByHeaders } from './infrastructure/http/admit-by-headers.js';
import { AuditController } from './infrastructure/http/audit.controller.js';
import { KeysController } from './infrastructure/http/keys.controller.js';
import { OpenRequests } from './infrastructure/http/open-requests.js';
import { IssuerKeys } from './infrastructure/jwt/issuer-keys.js';
import { JwtTokens } from './infrastructure/jwt/jwt-tokens.js';
import { KeyRefresh } from './infrastructure/key-refresh.js';
import { PgAccounts } from './infrastructure/pg-accounts.js';
import { PgApiKeys } from './infrastructure/pg-api-keys.js';

@Module({
  controllers: [KeysController, AccountsController, AuditController],
  providers: [
    { provide: ApiKeys, useClass: PgApiKeys },
    { provide: Accounts, useClass: PgAccounts },
    { provide: Tokens, useClass: JwtTokens },
    AccountBook,
    IssuerKeys,
    KeyRing,
    KeyRefresh,
    Identify,
    CreateKey,
    RotateKey,
    OpenRequests,
    AdmitByHeaders,
  ],
  exports: [Accounts],
})
export class AccessModule {}
