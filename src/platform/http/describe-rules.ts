import { ApiProperty } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';

interface Rule {
  readonly target: { readonly prototype: object };
  readonly propertyName: string;
  readonly name?: string;
  readonly each?: boolean;
  readonly constraints?: readonly unknown[];
}

/** Of 78 decimal digits not all fit into 256 bits. */
export const QUANTITY = {
  oneOf: [
    { type: 'string', pattern: '^(0|[1-9][0-9]{0,76}|0x[0-9a-fA-F]{1,64})$' },
    { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  ],
};
/** Years below 1000 are refused. */
const TIME = { format: 'date-time', pattern: '^[1-9]' };
export const REQUEST_ID = { minLength: 1, maxLength: 200, pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]*$' };
export const ADDRESS_PATTERN = '^0[xX][0-9a-fA-F]{40}$';

/** What the rules of a field mean in a schema. */
const SCHEMAS: Readonly<Record<string, (constraints: readonly unknown[]) => object>> = {
  min: ([minimum]) => ({ minimum }),
  max: ([maximum]) => ({ maximum }),
  isLength: ([minLength, maxLength]) => ({ minLength, maxLength }),
  maxLength: ([maxLength]) => ({ maxLength }),
  arrayMinSize: ([minItems]) => ({ minItems }),
  arrayMaxSize: ([maxItems]) => ({ maxItems }),
  isUuid: () => ({ format: 'uuid' }),
  isTime: () => TIME,
  isRequestId: () => REQUEST_ID,
  isHash: () => ({ pattern: '^0[xX][0-9a-fA-F]{64}$' }),
  isAddressText: () => ({ pattern: ADDRESS_PATTERN }),
  isHexBytes: ([maxBytes]) => ({ pattern: '^0[xX]([0-9a-fA-F]{2})*$', maxLength: 2 + 2 * Number(maxBytes) }),
  isQuantity: () => QUANTITY,
};

/** Says in the schemas of all DTO classes what their decorators check, but for the items of lists. */
export function describeRules(): void {
  // The storage has no public list of its classes.
  const known: unknown = Reflect.get(getMetadataStorage(), 'validationMetadatas');
  for (const rules of (known as ReadonlyMap<unknown, readonly Rule[]>).values())
    for (const { target, propertyName, name = '', each, constraints = [] } of rules) {
      const schema = each === true ? undefined : SCHEMAS[name]?.(constraints);
      if (schema !== undefined) ApiProperty(schema)(target.prototype, propertyName);
    }
}
