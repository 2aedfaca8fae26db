import { Body, Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Unprocessable } from '../../../../kernel/errors.js';
import { hasTooManyValues } from '../../../../platform/http/json-body.js';
import { signerOfPath } from '../../../../platform/http/path-params.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { SignTypedData } from '../../application/sign-typed-data.js';
import { SIGN_TYPED_DATA_EXAMPLES, SignedTypedDataDto, SignTypedDataDto } from './typed-data.dto.js';

const MAX_BYTES = 16_384;
/** To check and hash so many takes 30 ms. */
const MAX_VALUES = 500;

@ApiTags('signers')
@Controller('api/v1/signers/:chainId/:address')
export class TypedDataController {
  constructor(private readonly sign: SignTypedData) {}

  @Post('sign-typed-data')
  @Scope('typed-data')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'signTypedData',
    summary: 'Sign typed data (EIP-712)',
    description:
      'Only what a policy of the signer names in `typedData`, by the verifying contract or the name of its domain and the primary type; 403 `policy_refused` else. Whoever has the ' +
      'signature may use it, and daily amounts do not count it. Every signature is in the audit log. A node with the key of the signer answers; at another one it is 422 `no_key_here`.',
  })
  @ApiBody({ type: SignTypedDataDto, examples: SIGN_TYPED_DATA_EXAMPLES })
  @ApiResponse({ status: 200, type: SignedTypedDataDto })
  async run(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Body() body: SignTypedDataDto,
    @Req() request: FastifyRequest,
  ): Promise<SignedTypedDataDto> {
    const caller = callerOf(request);
    const signer = signerOfPath(chainId, address, caller);
    assertFits(body);
    const { digest, signature } = await this.sign.execute(signer, body, caller);
    const { r, s, yParity } = signature;
    const v = 27 + yParity;
    return { digest, signature: `${r}${s.slice(2)}${v.toString(16)}`, r, s, v };
  }
}

function assertFits(body: SignTypedDataDto): void {
  const text = JSON.stringify(body);
  if (Buffer.byteLength(text) <= MAX_BYTES && !hasTooManyValues(text, MAX_VALUES)) return;
  throw new Unprocessable(
    'typed_data_too_large',
    `typed data has at most ${MAX_BYTES} bytes and ${MAX_VALUES} values (list items, fields, lists and objects)`,
    'sign less at once',
    { maxBytes: MAX_BYTES, maxValues: MAX_VALUES },
  );
}
