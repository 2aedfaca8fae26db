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
