import { Module } from '@nestjs/common';
import { PoliciesModule } from '../policies/policies.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { SignTypedData } from './application/sign-typed-data.js';
import { TypedDataController } from './infrastructure/http/typed-data.controller.js';

@Module({
  imports: [SignersModule, PoliciesModule],
  controllers: [TypedDataController],
  providers: [SignTypedData],
})
export class PermitsModule {}
