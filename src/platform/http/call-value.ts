/** So many lists are in each other at most. */
export const MAX_CALL_DEPTH = 6;

/** Schema of the name of a part of a permit. */
export const PERMIT_PART = { type: 'string', enum: ['v', 'r', 's', 'signature', 'nonce', 'deadline'] };

/** Schema of an argument that is a part of a permit of the request. */
export const PERMIT_PART_VALUE = {
  type: 'object',
  properties: {
    $permit: { type: 'integer', minimum: 0, maximum: 3 },
    part: PERMIT_PART,
  },
  required: ['$permit', 'part'],
  additionalProperties: false,
};

/** Schema of an argument of a call: a list is an array of the contract, or a tuple. Not by a reference to itself, which some generators do not know. */
export const CALL_VALUE = valueWith(MAX_CALL_DEPTH);

type CallValueSchema = {
  readonly oneOf: ({ readonly type: string; readonly items?: CallValueSchema } | typeof PERMIT_PART_VALUE)[];
};

function valueWith(lists: number): CallValueSchema {
  const single = [...['string', 'integer', 'boolean'].map((type) => ({ type })), PERMIT_PART_VALUE];
  return { oneOf: lists === 0 ? single : [...single, { type: 'array', items: valueWith(lists - 1) }] };
}
