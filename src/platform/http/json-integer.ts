import { ApiProperty } from '@nestjs/swagger';

/** What `toJsonInteger` makes. */
export function ApiJsonInteger(options: {
  nullable?: boolean;
  example: number | null;
  description?: string;
}): PropertyDecorator {
  const { description = 'A number' } = options;
  const oneOf = [{ type: 'integer' }, { type: 'string' }];
  return ApiProperty({ ...options, oneOf, description: `${description}; a decimal string above 2^53` });
}
