import { ApiProperty } from '@nestjs/swagger';

export const JSON_INTEGER = {
  oneOf: [
    { type: 'integer', minimum: 0 },
    { type: 'string', pattern: '^[0-9]+$' },
  ],
};

/** What `toJsonInteger` makes. */
export function ApiJsonInteger(options: {
  nullable?: boolean;
  example: number | null;
  description?: string;
}): PropertyDecorator {
  const { description = 'A number' } = options;
  return ApiProperty({ ...options, ...JSON_INTEGER, description: `${description}; a decimal string above 2^53` });
}
