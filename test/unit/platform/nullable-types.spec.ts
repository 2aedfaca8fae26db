import { expect, it } from '@jest/globals';
import { withNullTypes } from '../../../src/platform/http/nullable-types.js';

it.each([
  [
    { type: 'string', nullable: true, example: 'a' },
    { type: ['string', 'null'], example: 'a' },
  ],
  [{ type: 'string', nullable: false }, { type: 'string' }],
  [
    { type: 'string', enum: ['a'], nullable: true },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  [{ allOf: [{ $ref: '#/a' }], nullable: true }, { anyOf: [{ allOf: [{ $ref: '#/a' }] }, { type: 'null' }] }],
  [
    { properties: { nullable: { type: 'number', nullable: true } } },
    { properties: { nullable: { type: ['number', 'null'] } } },
  ],
  [
    { items: [{ type: 'number', nullable: true }, null, 7, 'x'] },
    { items: [{ type: ['number', 'null'] }, null, 7, 'x'] },
  ],
])('a schema %j becomes %j in OpenAPI 3.1', (schema, expected) => {
  expect(withNullTypes(schema)).toEqual(expected);
});
