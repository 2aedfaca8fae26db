/** Schema of an argument of a call: a list is an array of the contract, or a tuple. */
export const CALL_VALUE = {
  oneOf: [
    { type: 'string' },
    { type: 'integer' },
    { type: 'boolean' },
    { type: 'array', items: { $ref: '#/components/schemas/CallValue' } },
  ],
};
