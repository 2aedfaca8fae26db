import { expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/kernel/json.js';
import { QUANTITY } from '../../../src/platform/http/describe-rules.js';
import { withNamedSchemas } from '../../../src/platform/http/named-schemas.js';

const STATE = { type: 'string', enum: ['NEW', 'OLD'] };
const fieldsOf = (properties: JsonObject): unknown => {
  const { components } = withNamedSchemas({ components: {} }, { State: STATE, Thing: { properties } });
  return (components as { schemas: JsonObject }).schemas;
};

it('an enum, or a union of what a number may be, is told by the name of the schema that has it', () => {
  const properties = {
    state: STATE,
    before: { ...STATE, description: 'Of yesterday' },
    amount: { oneOf: [QUANTITY, { type: 'null' }] },
    other: { type: 'string', enum: ['NEW'] },
  };
  const state = { $ref: '#/components/schemas/State' };
  expect(fieldsOf(properties)).toMatchObject({
    State: STATE,
    Quantity: QUANTITY,
    Thing: {
      properties: {
        state,
        before: { allOf: [state], description: 'Of yesterday' },
        amount: { oneOf: [{ $ref: '#/components/schemas/Quantity' }, { type: 'null' }] },
        other: properties.other,
      },
    },
  });
});

it('an object inside of another one is told by the name of the schema that has it, and one with any fields is a JsonObject', () => {
  const state = { type: 'object', properties: { a: STATE }, required: ['a'], additionalProperties: false };
  const { components } = withNamedSchemas(
    { components: {} },
    {
      Block: state,
      Thing: {
        properties: {
          block: { ...state, type: ['object', 'null'], description: 'Null without one' },
          same: state,
          other: { ...state, properties: {} },
          free: { type: ['object', 'null'], additionalProperties: true, example: { a: 1 } },
          empty: { type: 'object' },
        },
      },
    },
  );
  const [block, free] = ['Block', 'JsonObject'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  expect((components as { schemas: JsonObject }).schemas).toMatchObject({
    Block: state,
    Thing: {
      properties: {
        block: { anyOf: [block, { type: 'null' }], description: 'Null without one' },
        same: block,
        other: { ...state, properties: {} },
        free: { anyOf: [free, { type: 'null' }], example: { a: 1 } },
        empty: { type: 'object' },
      },
    },
  });
});
