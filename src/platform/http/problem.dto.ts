import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, ApiResponse } from '@nestjs/swagger';
import { type Problem, problemDetails } from './problem-details.js';

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
  @ApiProperty({ description: 'What is wrong, this time' }) detail!: string;
  @ApiProperty({ description: 'What to do about it' }) advice!: string;
  @ApiProperty({ example: false, description: 'Whether the same request may succeed later' }) retryable!: boolean;
  @ApiProperty({ example: '/api/v1/tx' }) instance!: string;
  @ApiPropertyOptional({ type: [ViolationDto] }) errors?: ViolationDto[];
  @ApiPropertyOptional({ type: 'object', additionalProperties: true }) facts?: Record<string, unknown>;
}

/** Documents the problems of a route in OpenAPI: one example for each, grouped by status. */
export function ApiProblems(url: string, ...problems: readonly Problem[]): MethodDecorator {
  const byStatus = new Map<number, Problem[]>();
  for (const problem of problems) byStatus.set(problem.status, [...(byStatus.get(problem.status) ?? []), problem]);
  return applyDecorators(...[...byStatus].map(([status, group]) => problemResponse(url, status, group)));
}

function problemResponse(url: string, status: number, group: readonly Problem[]): MethodDecorator {
  const examples = Object.fromEntries(
    group.map((problem) => [problem.code, { summary: problem.detail, value: problemDetails(problem, url) }]),
  );
  return ApiResponse({
    status,
    description: group.map(({ code }) => `\`${code}\``).join(', '),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/ProblemDto' }, examples } },
  });
}
