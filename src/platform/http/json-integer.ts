import { ApiProperty } from '@nestjs/swagger';

/** What `toJsonInteger` makes. */
export function ApiJsonInteger(options: {
  nullable?: boolean;
  example: number | null;
  description?: string;
}): PropertyDecorator {
  const { description = 'A number' } = options;
  const oneOf = [
    { type: 'integer', minimum: 0 },
    { type: 'string', pattern: '^[0-9]+$' },
  ];
  return ApiProperty({ ...options, oneOf, description: `${description}; a decimal string above 2^53` });
}
