import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

export class ViolationDto {
  @ApiProperty({ example: 'payload.value' }) path!: string;
  @ApiProperty({ example: 'invalid_quantity' }) code!: string;
  @ApiProperty({ example: 'value must be a whole number from 0 to 2^256-1' }) message!: string;
}

/** RFC 9457 in OpenAPI terms. */
export class ProblemDto {
  @ApiProperty({ example: 'urn:lockstep:problem:invalid_request' }) type!: string;
  @ApiProperty({ example: 'Invalid request' }) title!: string;
  @ApiProperty({ example: 400 }) status!: number;
  @ApiProperty({ example: 'invalid_request', description: 'Stable; for programs' }) code!: string;
  @ApiProperty({
    description: 'What is wrong, this time. In examples, what only a request decides is a name in braces',
  })
  detail!: string;
  @ApiProperty({ description: 'What to do about it' }) advice!: string;
  @ApiProperty({ example: false, description: 'Whether the same request may succeed later' }) retryable!: boolean;
  @ApiProperty({ example: '/api/v1/tx' }) instance!: string;
  @ApiPropertyOptional({ type: [ViolationDto] }) errors?: ViolationDto[];
  @ApiPropertyOptional({ type: 'object', additionalProperties: true }) facts?: Record<string, unknown>;
}
