import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/kernel/json.js';
import { truthful } from '../../../src/platform/http/truthful-document.js';

it.each([
  [
    { type: 'string', nullable: true, example: 'a' },
    { type: ['string', 'null'], example: 'a' },
  ],
  [{ type: 'string', nullable: false }, { type: 'string' }],
  [{ type: 'string', enum: ['a'], nullable: true }, { oneOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] }],
  [
    { allOf: [{ $ref: '#/a' }], nullable: true, description: 'A' },
    { oneOf: [{ $ref: '#/a' }, { type: 'null' }], description: 'A' },
  ],
  [{ type: ['number', 'null'] }, { type: ['integer', 'null'] }],
  [
    { properties: { nullable: { type: 'number', nullable: true } } },
    { properties: { nullable: { type: ['integer', 'null'] } } },
  ],
  [
    { items: [{ type: 'number', nullable: true }, null, 7, 'x'] },
    { items: [{ type: ['integer', 'null'] }, null, 7, 'x'] },
  ],
])('a schema %j becomes %j in OpenAPI 3.1', (schema, expected) => {
  expect(truthful({ components: { schemas: { schema } } })).toMatchObject({
    components: { schemas: { schema: expected } },
  });
});

const ASKED = { $ref: '#/components/schemas/Asked' };

describe('what a request refers to', () => {
  const bodyOf = (schema: JsonObject) => {
    const content = { 'application/json': { schema: ASKED } };
    const answers = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Told' } } } };
    const paths = { '/': { post: { requestBody: { required: true, content }, responses: { 200: answers } } } };
    return truthful({ paths, components: { schemas: { Asked: schema, Told: schema } } });
  };

  it('may be null where it is optional, and has no other fields', () => {
    const properties = { must: { type: 'string' }, may: { type: 'string' } };
    const told = { type: 'object', required: ['must'], properties };
    expect(bodyOf(told)).toMatchObject({
      paths: { '/': { post: { requestBody: { required: true } } } },
      components: {
        schemas: {
          Asked: { properties: { ...properties, may: { type: ['string', 'null'] } }, additionalProperties: false },
          Told: told,
        },
      },
    });
  });

  it('tells a default in words, because generated clients demand a field that has one', () => {
    const properties = { may: { type: 'string', default: 'x', description: 'A letter' } };
    expect(bodyOf({ type: 'object', properties })).toMatchObject({
      components: { schemas: { Asked: { properties: { may: { description: 'A letter. Default: "x"' } } } } },
    });
  });

  it('may be left out when it has no required field', () => {
    const asked = { type: 'object', properties: { may: { type: 'string' } } };
    expect(bodyOf(asked)).toMatchObject({
      // Not null: clients that are generated of a body that may be null send something where there is none.
      paths: {
        '/': { post: { requestBody: { required: false, content: { 'application/json': { schema: ASKED } } } } },
      },
    });
  });
});
